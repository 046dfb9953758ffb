import assert from 'node:assert/strict';
import { parseAccount } from '../../../server/agents/claude/account.ts';

suite('the account of Claude Code', () => {
  const line = (account: unknown): string =>
    JSON.stringify({ type: 'control_response', response: { response: { account } } });
  const cases: readonly (readonly [string, boolean | undefined])[] = [
    [line({ tokenSource: 'none', apiProvider: 'firstParty' }), false],
    [line({ tokenSource: 'none', apiKeySource: 'ANTHROPIC_API_KEY' }), true],
    [line({ tokenSource: 'CLAUDE_CODE_OAUTH_TOKEN', apiProvider: 'firstParty' }), true],
    [line({ tokenSource: 'none', apiProvider: 'bedrock' }), true],
    [line(null), undefined],
    [line(7), undefined],
    ['{"type":"system"}', undefined],
    ['not JSON', undefined],
    ['null', undefined],
  ];
  for (const [said, expected] of cases) {
    test(`${said.slice(0, 100)} is ${expected}`, () => {
      assert.equal(parseAccount(said)?.isSignedIn, expected);
    });
  }
});
