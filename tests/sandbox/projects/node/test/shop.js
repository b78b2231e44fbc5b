'use strict';

const assert = require('node:assert');
const request = require('supertest');
const { parse, shop } = require('../shop');

describe('parse', () => {
  it('reads whole euros', () => assert.equal(parse('12'), 1200));
  it('reads one decimal', () => assert.equal(parse('12.3'), 1230));
  it('refuses the rest', () => assert.equal(parse('1.'), null));
});

describe('GET /total', () => {
  it('adds up', () =>
    request(shop()).get('/total?amount=2.50&amount=4').expect(200, { total: '6.50' }));
  it('refuses what is no amount', () => request(shop()).get('/total?amount=x').expect(400));
  it('needs rates to exchange');
});
