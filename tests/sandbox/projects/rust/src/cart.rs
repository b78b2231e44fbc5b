//! What somebody wants to buy.

/// The sum of all amounts, `None` when one cannot be read.
pub fn total(amounts: &[&str]) -> Option<String> {
    let mut sum = 0;
    for text in amounts {
        sum += crate::parse(text)?;
    }
    Some(crate::format(sum))
}
