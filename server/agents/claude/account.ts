// Determines whether a user is signed in. Claude Code reports this in its handshake, before it
// calls a model or costs anything.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentAccount, AgentSettings } from '../port.ts';
import { signalGroup } from '../../platform/ending.ts';
import { claudeEnvironment } from './invocation.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

const answerTimeoutMs = 10_000;
const greeting = {
  type: 'control_request',
  request_id: 'account',
  request: { subtype: 'initialize' },
};

/** Returns null if Claude Code does not report it. Runs in an empty folder, with user settings. */
export async function claudeAccount(
  program: string,
  env: Readonly<Record<string, string>>,
  settings: AgentSettings,
): Promise<AgentAccount | null> {
  const cwd = mkdtempSync(join(tmpdir(), 'drover-account-'));
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const child = spawn(
    program,
    [
      '-p',
      ...formats,
      '--setting-sources',
      'user',
      '--strict-mcp-config',
      '--no-session-persistence',
    ],
    {
      cwd,
      env: claudeEnvironment(env, settings),
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: thisPlatform.hasProcessGroups,
    },
  );
  const ended = new Promise<void>((done) => {
    for (const event of ['exit', 'error']) child.once(event, () => done());
  });
  const end = (): void => {
    signalGroup(child, 'SIGKILL');
    // A process that left the group may still hold the output open.
    child.stdout.destroy();
  };
  const timer = setTimeout(end, answerTimeoutMs);
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(greeting)}\n`);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const account = parseAccount(line);
      if (account !== null) return account;
    }
    return null;
  } finally {
    clearTimeout(timer);
    end();
    await ended;
    rmSync(cwd, { recursive: true, force: true });
  }
}

/**
 * If no user is signed in, `tokenSource` is "none" and `apiKeySource` is absent. Cloud providers
 * have their own logins.
 */
export function parseAccount(line: string): AgentAccount | null {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch {
    return null;
  }
  const account = at(at(at(raw, 'response'), 'response'), 'account');
  if (typeof account !== 'object' || account === null) return null;
  const source = text(at(account, 'tokenSource'));
  const key = text(at(account, 'apiKeySource'));
  const provider = text(at(account, 'apiProvider'));
  const isSignedIn =
    (source !== '' && source !== 'none') ||
    (key !== '' && key !== 'none') ||
    (provider !== '' && provider !== 'firstParty');
  return isSignedIn
    ? { isSignedIn, message: '' }
    : {
        isSignedIn,
        message:
          'No user is signed in to Claude Code. Run `claude` once and sign in, or set ANTHROPIC_API_KEY.',
      };
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && key in value
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
