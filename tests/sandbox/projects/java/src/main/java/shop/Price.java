package shop;

/** Amounts of money in cents. */
public final class Price {
    private Price() {}

    /** Reads "12.30", "12.3" or "12". */
    public static long parse(String text) {
        String[] parts = text.trim().split("\\.", -1);
        if (parts.length > 2 || !parts[0].matches("\\d+")) {
            throw new IllegalArgumentException("not an amount: " + text);
        }
        long euros = Long.parseLong(parts[0]);
        if (parts.length == 1) {
            return euros * 100;
        }
        if (!parts[1].matches("\\d{1,2}")) {
            throw new IllegalArgumentException("not an amount: " + text);
        }
        return euros * 100 + Long.parseLong(parts[1]);
    }

    /** Writes an amount with two decimals. */
    public static String format(long cents) {
        return String.format("%d.%02d", cents / 100, cents % 100);
    }
}
