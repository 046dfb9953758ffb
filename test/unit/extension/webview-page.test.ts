// The page around webviews, its state after a reload, and the accepted messages.

import assert from 'node:assert/strict';
import { page, policy, parseSubject } from '../../../extension/webviews/html.ts';
import {
  isChange,
  readAsk,
  readMessage,
  refusedAsk,
} from '../../../extension/webviews/messages-in.ts';
import { readSubject, subjectKey } from '../../../extension/webviews/panel-subject.ts';

const options = {
  title: 'Tasks',
  id: 'page-1',
  nonce: 'abc',
  cspSource: 'https://host',
  script: 'https://host/tree.js',
  iconFont: 'https://host/codicon.ttf',
  first: null,
};

suite('extension webview page', () => {
  test('it allows scripts only by nonce, and nothing inline', () => {
    const text = policy('https://host', 'abc');
    assert.match(text, /^default-src 'none'; script-src 'nonce-abc'; style-src /);
    assert.doesNotMatch(text, /unsafe|\*|data:|http:/);
  });

  for (const place of ['subject', 'first'] as const) {
    test(`it shows hostile text in a ${place} as data`, () => {
      const words = { id: '</script><script>alert(1)</script>\u2028' };
      const html = page({ ...options, subject: null, [place]: words });
      assert.equal(html.match(/<script/g)?.length, 2);
      assert.doesNotMatch(html, /alert\(1\)<\/script>/);
      assert.match(html, /\\u003c\/script\\u003e/);
    });
  }

  test('it names the icon font itself, because scripts would wait for a style sheet', () => {
    const html = page({ ...options, subject: null });
    assert.match(html, /src: url\("https:\/\/host\/codicon\.ttf"\) format\("truetype"\)/);
    assert.doesNotMatch(html, /<link/);
    const hostile = page({ ...options, iconFont: 'x"); } </style><b>\\\n', subject: null });
    assert.doesNotMatch(hostile, /<b>|x"/);
  });

  test('it escapes text in attributes', () => {
    const html = page({
      ...options,
      title: '<b>"',
      cspSource: `x"><img src=y onerror='z'>`,
      subject: null,
    });
    assert.doesNotMatch(html, /<img|<b>/);
  });

  test('it finds a subject in the state that VS Code returns, and accepts no other', () => {
    const state = { subject: { root: '/r', id: 'task-1', attempt: 2 }, component: { top: 3 } };
    assert.deepEqual(readSubject(parseSubject(state)), { root: '/r', id: 'task-1', attempt: 2 });
    const nothing = { root: null, id: null, attempt: null };
    for (const bad of [
      null,
      undefined,
      7,
      {},
      { subject: 'x' },
      { subject: { id: 3, attempt: 1.5 } },
    ]) {
      assert.deepEqual(readSubject(parseSubject(bad)), nothing);
    }
  });

  test('it gives each attempt its own panel', () => {
    const first = { root: '/r', id: 'task-1', attempt: 1 };
    assert.notEqual(subjectKey('stream', first), subjectKey('stream', { ...first, attempt: 2 }));
    assert.equal(subjectKey('stream', first), subjectKey('stream', { ...first }));
  });

  const refused: readonly (readonly [string, unknown])[] = [
    ['nothing', null],
    ['a text', 'asks'],
    ['another type', { type: 'run', asks: [] }],
    ['asks that are no list', { type: 'asks', asks: 'x' }],
    ['asks without end', { type: 'asks', asks: Array(1_001).fill({}) }],
    ['a selection of objects', { type: 'selection', ids: [{}] }],
    ['a selection without end', { type: 'selection', ids: Array(10_001).fill('x') }],
  ];
  for (const [name, message] of refused) {
    test(`it refuses ${name}`, () => {
      assert.equal(readMessage(message), null);
    });
  }

  const refusedAsks: readonly (readonly [string, unknown])[] = [
    ['nothing', null],
    ['a request that only the extension makes', ask('backend', 'run.start')],
    ['a request of another prototype', ask('host', 'constructor')],
    ['what is for nobody', { ...ask('host', 'hello'), to: 'all' }],
    ['no number', { ...ask('host', 'hello'), ask: 'x' }],
  ];
  for (const [name, message] of refusedAsks) {
    test(`it refuses a request: ${name}`, () => {
      assert.equal(readAsk(message), null);
    });
  }

  test('it accepts listed messages whose parameters are an object', () => {
    const add = ask('backend', 'task.add');
    assert.deepEqual(readAsk({ ...add, params: 'x' }), { ...add, params: {} });
    assert.deepEqual(readAsk(ask('host', 'openGrid')), ask('host', 'openGrid'));
    const selection = { type: 'selection', ids: ['a'], hasFocus: true };
    assert.deepEqual(readMessage(selection), selection);
    assert.deepEqual(readMessage({ ...selection, hasFocus: 'x' }), {
      ...selection,
      hasFocus: false,
    });
  });

  test('it distinguishes messages that change something from messages that only read', () => {
    const isOne = (to: 'backend' | 'host', name: string): boolean => {
      const read = readAsk(ask(to, name));
      return read !== null && isChange(read);
    };
    assert.ok(isOne('backend', 'task.edit') && isOne('backend', 'answer'));
    assert.ok(isOne('host', 'sendBack') && isOne('host', 'retry'));
    for (const name of ['log.read', 'attempts', 'events.read']) assert.ok(!isOne('backend', name));
    for (const name of ['hello', 'readPlace', 'measured', 'copy']) assert.ok(!isOne('host', name));
  });

  test('it checks each of several requests in a message separately', () => {
    const message = { type: 'asks', asks: [ask('backend', 'status'), null] };
    assert.deepEqual(readMessage(message), message);
  });

  test('it still answers a request that it refuses', () => {
    assert.equal(refusedAsk(ask('backend', 'run.start')), 1);
    assert.equal(refusedAsk('x'), null);
  });
});

function ask(to: 'backend' | 'host', name: string): object {
  return { ask: 1, to, name, params: {} };
}
