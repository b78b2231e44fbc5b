'use strict';

const express = require('express');

/** Reads "12.30", "12.3" or "12" as cents; null for anything else. */
function parse(text) {
  const found = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(text).trim());
  if (!found) return null;
  return Number(found[1]) * 100 + Number(found[2] || 0);
}

/** An application that adds up amounts: GET /total?amount=2.50&amount=4 */
function shop() {
  const app = express();
  app.get('/total', (request, response) => {
    const amounts = [].concat(request.query.amount || []).map(parse);
    if (amounts.includes(null)) return response.status(400).json({ error: 'not an amount' });
    const cents = amounts.reduce((sum, one) => sum + one, 0);
    return response.json({ total: (cents / 100).toFixed(2) });
  });
  return app;
}

module.exports = { parse, shop };
