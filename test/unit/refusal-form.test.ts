// The form of a refusal, as far as its literal shows it: a sentence with a capital letter and a full stop.

import assert from 'node:assert/strict';
import { readSources } from '../source-files.ts';

/** A kind, then one string literal or template without nested templates. */
const refusal =
  /new Refusal\(\s*'[a-z_]+',\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{[^{}`]*\})*`)\s*,?\s*\)/gu;

/** Names of requests' fields and their values are written unchanged. */
const startsWell = /^(?:\$\{|[A-Z"`]|--[a-z]|(?:state|kind|hello) )/u;
// A line of SQL ends as SQL does.
const endsWell = /(?:[.?!;]|\})$/u;

function badForms(code: string): readonly string[] {
  return [...code.matchAll(refusal)]
    .map((found) => (found[1] ?? '').slice(1, -1))
    .filter((text) => !startsWell.test(text) || !endsWell.test(text));
}

suite('refusals', () => {
  test('they are sentences', () => {
    const found = readSources(['server']).flatMap(({ path, text }) =>
      badForms(text).map((bad) => `${path}: ${bad}`),
    );
    assert.deepEqual(found, []);
  });

  test('an invalid form is detected', () => {
    const code = "throw new Refusal('bad_state', `task ${id} is gone; try again`);";
    assert.deepEqual(badForms(code), ['task ${id} is gone; try again']);
    assert.deepEqual(badForms("new Refusal(\n 'bad_state',\n 'It is gone',\n)"), ['It is gone']);
    assert.deepEqual(badForms("new Refusal('bad_state', 'It is gone.')"), []);
  });
});
