//! The size of SQL queries, checked before they are parsed.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};

use crate::PointsError;

/// Maximum number of operators and keywords. An expression, a chain of joins or a chain of unions is at most as deep as it
/// has operators and keywords, so this also limits how deep the query engine recurses.
const MAX_OPERATORS: usize = 2_000;

/// Refuses a query that is too deep to be planned. Lists of values may have any length.
pub(crate) fn check_sql_size(query: &str) -> Result<(), PointsError> {
    // The parser reports what isn't a token.
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, query).tokenize() else { return Ok(()) };
    let operators = count_operators(&tokens);
    if operators > MAX_OPERATORS {
        return Err(PointsError::InvalidQuery(format!(
            "the query has {operators} operators and keywords; expected at most {MAX_OPERATORS}; write repeated \
             conditions as a list, such as `model IN ('a', 'b')`"
        )));
    }
    Ok(())
}

fn count_operators(tokens: &[Token]) -> usize {
    let mut count = 0;
    // Whether each open parenthesis is in a FROM clause, where a comma joins tables.
    let mut in_from = vec![false];
    for token in tokens {
        let is_operator = match token {
            Token::Word(Word { keyword, .. }) => {
                let is_clause = matches!(
                    keyword,
                    Keyword::SELECT | Keyword::WHERE | Keyword::GROUP | Keyword::HAVING | Keyword::ORDER
                );
                if let Some(in_from) = in_from.last_mut() {
                    *in_from = *keyword == Keyword::FROM || *in_from && !is_clause;
                }
                *keyword != Keyword::NoKeyword
            }
            Token::LParen => {
                in_from.push(in_from.last().copied().unwrap_or_default());
                true
            }
            Token::RParen => {
                in_from.pop();
                false
            }
            Token::Comma => in_from.last().copied().unwrap_or_default(),
            Token::EOF | Token::Whitespace(_) | Token::Number(..) | Token::SingleQuotedString(_) => false,
            _ => true,
        };
        count += usize::from(is_operator);
    }
    count
}
