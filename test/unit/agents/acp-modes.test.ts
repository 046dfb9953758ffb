// The mode of an agent over ACP: its own, the person's, or the one without its own sandbox if
// Drover's sandbox holds.

import assert from 'node:assert/strict';
import { modeToSet, type ModeChoice } from '../../../server/agents/acp/programs.ts';

const codex = ['read-only', 'workspace-write', 'agent', 'agent-full-access'];
const usual: ModeChoice = {
  offered: codex,
  wanted: null,
  isLoaded: false,
  isConfined: false,
  isPlanning: false,
};
const confined: ModeChoice = { ...usual, isConfined: true };

suite('ACP modes', () => {
  test('Codex keeps its own sandbox if and only if Drover has none', () => {
    assert.deepEqual(
      [
        modeToSet('codex', usual),
        modeToSet('codex', { ...usual, isPlanning: true }),
        modeToSet('codex', confined),
        modeToSet('codex', { ...confined, isLoaded: true }),
        modeToSet('codex', { ...confined, isPlanning: true }),
        modeToSet('codex', { ...confined, wanted: 'workspace-write' }),
      ],
      [null, 'read-only', ...Array<string>(4).fill('agent-full-access')],
    );
  });

  test('a person who wants to be asked is asked, confined or not', () => {
    const asks = { ...confined, wanted: 'read-only' };
    assert.equal(modeToSet('codex', asks), 'read-only');
    assert.equal(modeToSet('codex', { ...asks, isConfined: false }), 'read-only');
  });

  test('a version of Codex without that mode keeps its current mode', () => {
    const older = { ...confined, offered: ['read-only', 'auto'] };
    assert.equal(modeToSet('codex', older), null);
  });

  test('other agents get the same mode, confined or not', () => {
    const gemini = { ...confined, offered: ['default', 'autoEdit', 'plan'] };
    assert.equal(modeToSet('gemini', gemini), 'autoEdit');
    assert.equal(modeToSet('gemini', { ...gemini, isConfined: false }), 'autoEdit');
    assert.equal(modeToSet('gemini', { ...gemini, isLoaded: true }), null);
    assert.equal(modeToSet('gemini', { ...gemini, isPlanning: true }), 'plan');
    assert.equal(modeToSet('opencode', { ...gemini, wanted: 'build' }), 'build');
  });
});
