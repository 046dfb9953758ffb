// Which host a rule of `[sandbox] network` allows, and which texts are not rules.

import assert from 'node:assert/strict';
import { ownPorts, parseHostRule, findRule } from '../../../server/core/settings/network-hosts.ts';
import { mayBe } from '../../../server/sandbox/network/addresses.ts';
import { ruleOfUrl } from '../../../server/sandbox/network/model-hosts.ts';

const allows = (rule: string, host: string, port: number): boolean => {
  const parsed = parseHostRule(rule);
  assert.ok(parsed !== null, rule);
  return findRule([parsed], host, port) !== null;
};

suite('network hosts', () => {
  for (const [rule, host, port] of [
    ['registry.npmjs.org', 'registry.npmjs.org', 443],
    ['registry.npmjs.org', 'REGISTRY.npmjs.org.', 80],
    ['*.example.com', 'a.b.example.com', 443],
    ['db.corp:5432', 'db.corp', 5432],
    ['db.corp:*', 'db.corp', 1],
    ['localhost:5432', '127.0.0.1', 5432],
    ['[::1]:5432', 'localhost', 5432],
    ['10.0.0.7:80', '10.0.0.7', 80],
  ] as const)
    test(`${rule} allows ${host}:${port}`, () => assert.ok(allows(rule, host, port)));

  for (const [rule, host, port] of [
    ['registry.npmjs.org', 'registry.npmjs.org.evil.com', 443],
    ['registry.npmjs.org', 'xregistry.npmjs.org', 443],
    ['registry.npmjs.org', 'registry.npmjs.org', 22],
    ['*.example.com', 'example.com', 443],
    ['*.example.com', 'evilexample.com', 443],
    ['localhost:5432', '127.0.0.1', 5433],
    ['127.0.0.1:80', '2130706433', 80],
    ['127.0.0.1:80', '0x7f.1', 80],
    ['10.0.0.7:80', '10.0.0.8', 80],
  ] as const)
    test(`${rule} does not allow ${host}:${port}`, () => assert.ok(!allows(rule, host, port)));

  for (const text of [
    '',
    '*',
    '*.',
    'https://a.com',
    'a.com/x',
    'u@a.com',
    'a b',
    'a:0',
    'a:65536',
  ])
    test(`"${text}" is not a rule`, () => assert.equal(parseHostRule(text), null));

  test("a person's URL is one host and port", () => {
    assert.equal(ruleOfUrl('http://127.0.0.1:8080/v1'), '127.0.0.1:8080');
    assert.equal(ruleOfUrl('https://api.corp/v1'), 'api.corp:443');
    assert.equal(ruleOfUrl('api.corp'), null);
    assert.equal(ruleOfUrl('file:///etc/passwd'), null);
  });

  test('ports of this machine are allowed', () => {
    assert.deepEqual(ownPorts(['a.com:81', 'localhost:5432', '127.0.0.1:80']), [5432, 80]);
  });
});

suite('addresses that a host may resolve to', () => {
  const may = (rule: string, address: string): boolean => {
    const parsed = parseHostRule(rule);
    assert.ok(parsed !== null);
    return mayBe(parsed, { address, family: address.includes(':') ? 6 : 4 });
  };
  for (const address of [
    '127.0.0.1',
    '0.0.0.0',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    'fe80::1',
    'fd00:ec2::254',
  ])
    test(`no name may resolve to ${address}`, () => {
      assert.equal(may('api.corp', address), false);
      assert.equal(may('*.corp', address), false);
    });
  for (const address of ['10.0.0.1', '192.168.1.1', '172.16.0.1', 'fd12::1'])
    test(`a full name may resolve to ${address}, but a wildcard may not`, () => {
      assert.equal(may('api.corp', address), true);
      assert.equal(may('*.corp', address), false);
    });
  test('public addresses are allowed', () => assert.ok(may('*.example.com', '93.184.216.34')));
});
