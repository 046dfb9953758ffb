// Forms of exchanged data: which keys of YAML are quoted, and what shape a line of an issue file has.

import assert from 'node:assert/strict';
import { detectShape } from '../../../server/core/exchange/beads-format.ts';
import { toYaml } from '../../../server/core/exchange/export-yaml.ts';

suite('formats of exchanged data', () => {
  test('keys that YAML would not read as strings are quoted', () => {
    for (const key of ['true', 'False', 'null', 'y', 'NO', 'on', 'off', 'yes', '1st', 'a-b', '']) {
      assert.equal(toYaml({ [key]: 1 }), `${JSON.stringify(key)}: 1\n`);
    }
    for (const key of ['title', 'trueish', '_x', 'Nothing']) {
      assert.equal(toYaml({ [key]: 'a: b' }), `${key}: "a: b"\n`);
    }
  });

  test("a line is Drover's by its type and data, and bd's by title and status", () => {
    const bd = { title: 'A', status: 'open' };
    assert.equal(detectShape({ type: 'epic', data: {} }), 'drover');
    assert.equal(detectShape({ type: 'epic', ...bd }), 'bd');
    assert.equal(detectShape({ data: {}, ...bd }), 'bd');
    assert.equal(detectShape({ type: 'feature', data: {}, ...bd }), 'bd');
    assert.equal(detectShape({ type: 'feature', data: {} }), null);
    assert.equal(detectShape({ title: 'A' }), null);
    assert.equal(detectShape({ status: 'open' }), null);
  });
});
