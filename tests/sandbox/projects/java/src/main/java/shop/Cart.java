package shop;

import java.util.List;

/** What somebody wants to buy. */
public record Cart(List<String> amounts) {
    /** The sum of all amounts. */
    public String total() {
        return Price.format(amounts.stream().mapToLong(Price::parse).sum());
    }
}
