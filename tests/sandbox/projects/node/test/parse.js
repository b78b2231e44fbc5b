'use strict';

const assert = require('node:assert');
const { parse } = require('../shop');

describe('parse', () => {
  it('reads whole euros', () => assert.equal(parse('12'), 1200));
  it('reads one decimal', () => assert.equal(parse('12.3'), 1230));
  it('refuses the rest', () => assert.equal(parse('1.'), null));
});
