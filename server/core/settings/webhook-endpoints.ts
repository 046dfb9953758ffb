// Settings for webhooks: the endpoints that events are posted to. Rows of the settings table.

import { isOneOf } from '../one-of.ts';
import { err, ok, type Result } from '../failure.ts';
import { webhookEventNames, type WebhookEventName } from '../webhooks/webhook-events.ts';

export const webhookFormats = ['drover', 'slack', 'discord'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

const reader = 'main (webhooks)';

export const webhookSettingTable = {
  'webhooks.enabled': {
    value: { type: 'boolean' },
    fallback: true,
    env: 'DROVER_WEBHOOKS_ENABLED',
    inFile: true,
    doc: 'Send webhooks to the configured endpoints. `false` turns all of them off.',
    readBy: reader,
  },
  'webhooks.url': {
    value: { type: 'url' },
    fallback: null,
    env: 'DROVER_WEBHOOK_URL',
    inFile: true,
    doc: 'URL of the endpoint `default`, which receives every event. Status and logs show only its host.',
    readBy: reader,
  },
  'webhooks.secret': {
    value: { type: 'secret' },
    fallback: null,
    env: 'DROVER_WEBHOOK_SECRET',
    inFile: true,
    doc: 'Secret that signs messages to `default`, in the form "whsec_…". Set this in your user settings file or in the environment.',
    readBy: reader,
  },
  'webhooks.allow_private': {
    value: { type: 'boolean' },
    fallback: false,
    env: 'DROVER_WEBHOOKS_ALLOW_PRIVATE',
    inFile: true,
    doc: 'Allow webhooks to this machine and to private networks.',
    readBy: reader,
  },
  'web.url': {
    value: { type: 'url' },
    fallback: null,
    inFile: true,
    doc: 'Address at which people reach `drover web`. Webhooks link to the task or question there.',
    readBy: reader,
  },
  'webhooks.endpoints': {
    value: { type: 'endpoints' },
    fallback: {},
    inFile: true,
    doc: 'Endpoints, one table [webhooks.endpoints.<name>] for each: url, secret or secret_env, events (default: all), format (drover, slack or discord), headers, enabled.',
    readBy: reader,
  },
} as const;

export type WebhookSettingKey = keyof typeof webhookSettingTable;

/** As written in the file. */
export interface EndpointTable {
  readonly url: string;
  readonly secret?: string;
  /** The environment variable with the secret. */
  readonly secret_env?: string;
  readonly events?: readonly WebhookEventName[];
  readonly format?: WebhookFormat;
  readonly headers?: Readonly<Record<string, string>>;
  readonly enabled?: boolean;
}

export type EndpointTables = Readonly<Record<string, EndpointTable>>;

export interface WebhookEndpoint {
  readonly name: string;
  readonly url: string;
  readonly secret: string | null;
  readonly secretVariable: string | null;
  /** Empty = all events. */
  readonly events: readonly WebhookEventName[];
  readonly format: WebhookFormat;
  readonly headers: Readonly<Record<string, string>>;
  readonly enabled: boolean;
}

export interface WebhookSettings {
  readonly enabled: boolean;
  readonly allowPrivate: boolean;
  /** The URL of `drover web`. If unset, webhooks contain no links. */
  readonly pageUrl?: string | null;
  readonly endpoints: readonly WebhookEndpoint[];
}

/** Name of the endpoint that `webhooks.url` defines. */
export const defaultEndpoint = 'default';

export function readWebhookSettings(get: <T>(key: WebhookSettingKey) => T): WebhookSettings {
  const tables = Object.entries(get<EndpointTables>('webhooks.endpoints'));
  const endpoints = tables.map(([name, table]) => endpointOf(name, table));
  const url = get<string | null>('webhooks.url');
  const secret = get<string | null>('webhooks.secret');
  if (url !== null) {
    endpoints.unshift(endpointOf(defaultEndpoint, { url, ...(secret !== null && { secret }) }));
  }
  return {
    enabled: get('webhooks.enabled'),
    allowPrivate: get('webhooks.allow_private'),
    pageUrl: get('web.url'),
    endpoints,
  };
}

function endpointOf(name: string, table: EndpointTable): WebhookEndpoint {
  return {
    name,
    url: table.url,
    secret: table.secret ?? null,
    secretVariable: table.secret_env ?? null,
    events: table.events ?? [],
    format: table.format ?? 'drover',
    headers: table.headers ?? {},
    enabled: table.enabled ?? true,
  };
}

/** Returns scheme and host only, because the path of a chat's webhook is its password. */
export function shownUrl(url: string): string {
  const match = /^(https?:\/\/)(?:[^/?#@]*@)?([^/?#]+)(.*)$/i.exec(url);
  if (match === null) return '[hidden]';
  const [, scheme = '', host = '', rest = ''] = match;
  return rest === '' || rest === '/' ? `${scheme}${host}` : `${scheme}${host}/…`;
}

/** The endpoints for `status`, without secrets and paths. */
export function shownEndpoints(tables: EndpointTables): unknown {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [
      name,
      {
        ...table,
        url: shownUrl(table.url),
        ...(table.secret !== undefined && { secret: '[hidden]' }),
        ...(table.headers !== undefined && {
          headers: Object.fromEntries(Object.keys(table.headers).map((key) => [key, '[hidden]'])),
        }),
      },
    ]),
  );
}

const endpointsMax = 20;
const nameRule = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const headerRule = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Headers that Drover or HTTP sets itself. */
const ownHeader =
  /^(content-.*|host|connection|transfer-encoding|te|trailer|upgrade|expect|keep-alive|user-agent|(x-)?webhook-.*|x-drover-.*)$/i;

export const endpointsExpected = 'tables of endpoints, as [webhooks.endpoints.chat]';

/**
 * Reads `[webhooks.endpoints.<name>]`. The error describes the expected value but never repeats the
 * actual one.
 */
export function readEndpoints(raw: unknown): Result<EndpointTables, string> {
  if (!isTable(raw)) return err(endpointsExpected);
  const names = Object.keys(raw);
  if (names.length > endpointsMax) return err(`at most ${endpointsMax} endpoints`);
  for (const name of names) {
    if (!nameRule.test(name)) return err('names of endpoints made of letters, digits, - and _');
    if (name === defaultEndpoint) {
      return err(`another name than ${defaultEndpoint}, which is the endpoint of webhooks.url`);
    }
    const fault = faultOf(raw[name]);
    if (fault !== null) return err(`${fault} in [webhooks.endpoints.${name}]`);
  }
  return ok(raw as EndpointTables);
}

const fieldRules: {
  readonly [K in keyof Required<EndpointTable>]: readonly [(value: unknown) => boolean, string];
} = {
  url: [isWebhookUrl, 'a URL as "https://host/path" for `url`'],
  secret: [isSecret, 'a non-empty string for `secret`'],
  secret_env: [
    (value) => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
    'the name of an environment variable for `secret_env`',
  ],
  events: [
    (value) => Array.isArray(value) && value.every((event) => isOneOf(webhookEventNames, event)),
    `a list of ${webhookEventNames.join(', ')} for \`events\``,
  ],
  format: [
    (value) => isOneOf(webhookFormats, value),
    `one of ${webhookFormats.join(', ')} for \`format\``,
  ],
  headers: [areHeaders, "a table of headers, none of them Drover's own, for `headers`"],
  enabled: [(value) => typeof value === 'boolean', 'true or false for `enabled`'],
};

function faultOf(raw: unknown): string | null {
  if (!isTable(raw)) return 'a table';
  if (raw['url'] === undefined) return 'a `url`';
  for (const [key, value] of Object.entries(raw)) {
    if (!Object.hasOwn(fieldRules, key)) {
      return `only ${Object.keys(fieldRules).join(', ')}`;
    }
    const [isRight, expected] = fieldRules[key as keyof EndpointTable];
    if (!isRight(value)) return expected;
  }
  return raw['secret'] !== undefined && raw['secret_env'] !== undefined
    ? 'either `secret` or `secret_env`'
    : null;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Rejects URLs with user and password, which proxies would log. */
export function isWebhookUrl(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= 2_000 &&
    /^https?:\/\/[^/?#@\s\\]+([/?#][!-~]*)?$/i.test(value)
  );
}

export function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[!-~]{1,500}$/.test(value);
}

function areHeaders(value: unknown): boolean {
  if (!isTable(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= 50 &&
    entries.every(
      ([name, text]) =>
        headerRule.test(name) &&
        !ownHeader.test(name) &&
        typeof text === 'string' &&
        /^[\t -~]{0,4000}$/.test(text),
    )
  );
}
