'use strict';

const request = require('supertest');
const { shop } = require('../shop');

describe('GET /total', () => {
  it('adds up', () =>
    request(shop()).get('/total?amount=2.50&amount=4').expect(200, { total: '6.50' }));
  it('refuses what is no amount', () => request(shop()).get('/total?amount=x').expect(400));
  it('needs rates to exchange');
});
