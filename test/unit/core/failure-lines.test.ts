// Which part of a gate's output is shown: checked with real outputs of the tools, one file each.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  failureEvidence,
  FailureLines,
  failureLines,
} from '../../../server/core/prompt/failure-lines.ts';

const folder = new URL('../../fixtures/gate-output/', import.meta.url);

const told: { readonly [output: string]: readonly string[] } = {
  'cargo-build': ['error[E0425]: cannot find value `c` in this scope (src/lib.rs:1:41)'],
  'cargo-test': [
    'test tests::adds ... FAILED',
    "thread 'tests::adds' (25184) panicked at src/lib.rs:4:25:",
    'assertion `left == right` failed',
    'left: -1',
    'right: 3',
  ],
  eslint: [
    "/repo/lint/a.js:1:7  error  'unused' is assigned a value but never used  no-unused-vars",
    "/repo/lint/a.js:2:5  error  'a' is not defined  no-undef",
    "/repo/lint/a.js:2:13  error  'b' is not defined  no-undef",
  ],
  'go-build': [
    'bad/bad.go:2:23: undefined: undefinedName',
    'FAIL\texample.org/calc/bad [build failed]',
  ],
  'go-panic': ['--- FAIL: TestX', 'panic: assignment to entry in nil map [recovered, repanicked]'],
  'go-test': [
    '--- FAIL: TestAdd',
    'calc_test.go:3: Add(1, 2) = -1, want 3',
    '--- FAIL: TestSub',
    '--- FAIL: TestSub/case_one',
    'calc_test.go:5: wrong',
  ],
  jest: ['✕ adds two numbers', '● sum › adds two numbers', 'Expected: 3', 'Received: -1'],
  make: ['a.c:1:25: error: ‘missing’ undeclared (first use in this function)'],
  mocha: [
    '✖ sum › adds two numbers',
    'AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
    '-1 !== 3',
    '✖ sum › throws',
    "TypeError: Cannot read properties of undefined (reading 'x')",
  ],
  'node-test-tap': [
    'not ok 1 - adds two numbers',
    '-1 !== 3',
    'expected: 3',
    'actual: -1',
    'not ok 3 - names nobody',
    'error: "Cannot read properties of undefined (reading \'name\')"',
  ],
  'node-test': [
    '✖ adds two numbers',
    'AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:',
    '-1 !== 3',
    'actual: -1,',
    'expected: 3,',
    '✖ names nobody',
    "TypeError [Error]: Cannot read properties of undefined (reading 'name')",
  ],
  'pytest-collect': [
    'ERROR test_broken_import.py',
    "E   ModuleNotFoundError: No module named 'not_there'",
  ],
  pytest: [
    'FAILED test_calc.py::test_add - assert -1 == 3',
    'ERROR test_calc.py::test_uses_broken - RuntimeError: no database',
    'E       RuntimeError: no database',
    'E       assert -1 == 3',
    'E        +  where -1 = add(1, 2)',
  ],
  'ruff-concise': [
    'calc.py:1:1: I001 [*] Import block is un-sorted or un-formatted',
    'calc.py:1:8: F401 [*] `os` imported but unused',
    'test_calc.py:1:1: I001 [*] Import block is un-sorted or un-formatted',
  ],
  ruff: [
    'I001 [*] Import block is un-sorted or un-formatted (calc.py:1:1)',
    'F401 [*] `os` imported but unused (calc.py:1:8)',
    'I001 [*] Import block is un-sorted or un-formatted (test_calc.py:1:1)',
  ],
  tsc: [
    "ts/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    "ts/a.ts(2,57): error TS2551: Property 'nam' does not exist on type '{ name: string; }'. Did you mean 'name'?",
  ],
  unittest: ['FAIL: test_add (__main__.T.test_add)', 'AssertionError: -1 != 3'],
  vitest: [
    '× adds two numbers',
    'FAIL  v.spec.mjs > sum > adds two numbers',
    'AssertionError: expected -1 to be 3 // Object.is equality (v.spec.mjs:2:76)',
  ],
};

suite('relevant lines of output', () => {
  for (const [output, expected] of Object.entries(told)) {
    test(`the relevant lines of ${output} are found`, () => {
      const text = readFileSync(new URL(`${output}.txt`, folder), 'utf8');
      assert.deepEqual(failureLines(text), expected);
      const inPieces = new FailureLines();
      for (let at = 0; at < text.length; at += 7) inPieces.add(text.slice(at, at + 7));
      assert.deepEqual(inPieces.lines(), expected, 'however it comes');
    });
  }

  const check = (output: string, expected: readonly string[]): void =>
    assert.deepEqual(failureLines(output), expected);

  test('for unknown output, lines that sound like failures are taken, or else the last ones', () => {
    check('start\nconnection refused by db:5432\nshutting down\n', [
      'connection refused by db:5432',
    ]);
    check('one\ntwo\nthree\nfour', ['two', 'three', 'four']);
    check('sh: 1: pytest: not found\n', ['sh: 1: pytest: not found']);
    check('', []);
    check(' \n\n', []);
  });

  test('colors, progress in one line and endless lines are bounded', () => {
    check('\u001b[31m✖ red test\u001b[0m\r\n', ['✖ red test']);
    check('10%\r50%\r✖ last\n', ['✖ last']);
    const [line] = failureLines(`✖ ${'x'.repeat(1_000_000)}\n`);
    assert.equal(line?.length, 300);
    const many = Array.from({ length: 5_000 }, (_, index) => `✖ test ${index}\n`).join('');
    assert.equal(failureLines(many).length, 8);
  });

  test('the end of the output keeps lines that are no longer in its buffer', () => {
    assert.equal(failureEvidence(['✖ a', 'b'], 'b\nthe end'), '✖ a\n[…]\nb\nthe end');
    assert.equal(failureEvidence(['b'], 'b\nthe end'), 'b\nthe end');
  });
});

suite('relevant lines of a flood', () => {
  test('only the first lines and the end are read', () => {
    const telling = new FailureLines();
    telling.add('AssertionError: at the start\n');
    telling.add('y\n'.repeat(60_000));
    assert.equal(telling.isFull, true);
    telling.add('AssertionError: in the middle\n');
    telling.addEnd('AssertionError: at the end');
    const said = telling.lines().join('\n');
    assert.match(said, /at the start/);
    assert.doesNotMatch(said, /in the middle/);
    assert.match(said, /at the end/);
  });
});
