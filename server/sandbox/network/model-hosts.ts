// The hosts that an agent needs to reach its model and renew its login: those of its provider, and
// those that the user's variables and settings name instead.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHostRule } from '../../core/settings/network-hosts.ts';

type Environment = Readonly<Record<string, string>>;

const anthropic = ['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com'];
const openai = ['api.openai.com', 'auth.openai.com', 'chatgpt.com'];
const google = [
  'generativelanguage.googleapis.com',
  'cloudcode-pa.googleapis.com',
  'oauth2.googleapis.com',
];

const ofKind: Readonly<Record<string, readonly string[]>> = {
  claude: [...anthropic, 'claude.ai'],
  'drover-code': [...anthropic, ...openai],
  codex: openai,
  opencode: [...anthropic, ...openai, ...google, 'opencode.ai', 'openrouter.ai'],
  gemini: google,
  copilot: ['*.githubcopilot.com', 'api.github.com'],
  amp: ['ampcode.com'],
};

/** Settings below home in which a user configures another host for the model. */
const settingsFiles: Readonly<Record<string, readonly string[]>> = {
  claude: ['.claude/settings.json'],
  codex: ['.codex/config.toml'],
  opencode: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
  gemini: ['.gemini/settings.json'],
};

const urlVariable = /(?:_BASE_URL|_API_URL|_API_BASE|_ENDPOINT|_HOST|^AMP_URL)$/;
const urlSetting = /["']?\w*(?:base_?url|endpoint)["']?\s*[:=]\s*["']([^"'\s]+)["']/gi;
const settingsBytesMax = 1024 * 1024;

export function modelHosts(kind: string, env: Environment, home: string): readonly string[] {
  const named = Object.entries(env).flatMap(([name, value]) =>
    urlVariable.test(name) ? [value] : [],
  );
  const written = (settingsFiles[kind] ?? []).flatMap((name) => urlsIn(join(home, name)));
  const own = [...named, ...written].flatMap((url) => ruleOfUrl(url) ?? []);
  return [...new Set([...(ofKind[kind] ?? []), ...own])];
}

function urlsIn(file: string): string[] {
  try {
    const text = readFileSync(file, 'utf8').slice(0, settingsBytesMax);
    return [...text.matchAll(urlSetting)].map(([, url = '']) => url);
  } catch {
    return [];
  }
}

/** Converts `https://host:8443/path` to a rule. Returns null if the text is not a web URL. */
export function ruleOfUrl(text: string): string | null {
  if (!/^(https?|wss?):\/\//i.test(text) || !URL.canParse(text)) return null;
  const { hostname, port, protocol } = new URL(text);
  const isPlain = protocol === 'http:' || protocol === 'ws:';
  const rule = `${hostname}:${port === '' ? (isPlain ? '80' : '443') : port}`;
  return parseHostRule(rule) === null ? null : rule;
}
