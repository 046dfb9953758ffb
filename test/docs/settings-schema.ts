// The JSON schema of `.drover.toml`, generated from the settings: editors complete and check the
// file with it.

import type { ValueKind } from '../../server/core/settings/setting-values.ts';
import { expectedText } from '../../server/core/settings/setting-values.ts';
import {
  settingKeys,
  settingTable,
  type SettingDefinition,
} from '../../server/core/settings/settings.ts';
import { agentKinds, taskTypes, testModes, testScopes } from '../../server/core/plan/task.ts';

type Schema = Readonly<Record<string, unknown>>;

export function settingsSchema(): Schema {
  const properties: Record<string, Schema> = {};
  const tables = new Map<string, Record<string, Schema>>();
  for (const key of settingKeys) {
    const definition: SettingDefinition = settingTable[key];
    if (!definition.inFile) continue;
    const [table = '', name] = key.split('.');
    if (name === undefined) {
      properties[key] = described(definition);
      continue;
    }
    const rows = tables.get(table) ?? {};
    rows[name] = described(definition);
    tables.set(table, rows);
  }
  for (const [table, rows] of tables) properties[table] = tableOf(rows);
  const agent = properties['agent'] ?? {};
  properties['agent'] = {
    description: 'The agent that works on tasks: its kind, or a table with its settings.',
    oneOf: [{ type: 'string', enum: agentKinds }, agent],
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of Drover for one project (.drover.toml)',
    type: 'object',
    additionalProperties: false,
    properties,
  };
}

export function settingsSchemaText(): string {
  return `${JSON.stringify(settingsSchema(), null, 2)}\n`;
}

function tableOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', additionalProperties: false, properties };
}

function described({ value, fallback, doc, env }: SettingDefinition): Schema {
  const says = env === undefined ? doc : `${doc} Environment variable: ${env}.`;
  const form = valueSchema(value);
  const hasForm = ['age', 'duration', 'size'].includes(value.type);
  return {
    description: hasForm ? `${says} Expected: ${expectedText(value)}.` : says,
    ...form,
    ...(fallback === null ? {} : { default: fallback }),
  };
}

const texts: Schema = { type: 'array', items: { type: 'string' } };

function valueSchema(kind: ValueKind): Schema {
  switch (kind.type) {
    case 'choice':
      return { type: 'string', enum: kind.choices };
    case 'network':
      return { anyOf: [{ type: 'string', enum: kind.choices }, texts] };
    case 'integer':
      return { type: 'integer', minimum: kind.min, maximum: kind.max };
    case 'number':
      return { type: 'number', minimum: kind.min, maximum: kind.max };
    case 'boolean':
      return { type: 'boolean' };
    case 'age':
      return { type: 'string', pattern: '^(forever|[1-9][0-9]{0,3}[hdw])$' };
    case 'duration':
      return { type: 'string', pattern: '^(0|([0-9]+(\\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+)$' };
    case 'size':
      return {
        type: ['string', 'integer'],
        pattern: '^[0-9]{1,15}(\\.[0-9]{1,6})?\\s*([KMGkmg]?[Bb])?$',
      };
    case 'texts':
    case 'words':
    case 'paths':
    case 'variables':
    case 'steps':
      return texts;
    case 'environment':
      return { type: 'object', additionalProperties: { type: 'string' } };
    case 'agents':
      return agentsSchema;
    case 'templates':
      return { type: 'object', additionalProperties: templateSchema };
    case 'endpoints':
      return { type: 'object', additionalProperties: endpointSchema };
    case 'stages':
      return stagesSchema;
    case 'text':
    case 'branch prefix':
    case 'issues':
    case 'word':
    case 'url':
    case 'secret':
    case 'sqlite':
    case 'postgres':
      return { type: 'string' };
  }
}

const oneAgent: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    path: { type: 'string', description: "The agent's program." },
    args: { ...texts, description: "Further arguments for the agent's program." },
    model: { type: 'string', description: 'Model to ask this agent for.' },
    permission_mode: { type: 'string', description: "The agent's own permission mode." },
    fallback: { ...texts, description: 'Agents that take over from it, in this order.' },
  },
};

const agentsSchema: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(agentKinds.map((kind) => [kind, oneAgent])),
};

const stagesSchema: Schema = {
  type: 'object',
  additionalProperties: {
    anyOf: [
      { type: 'string', description: 'Shell command of the stage.' },
      {
        type: 'object',
        additionalProperties: false,
        required: ['command'],
        properties: {
          command: { type: 'string', description: 'Shell command of the stage.' },
          paths: { ...texts, description: 'The stage runs only if one of these has changed.' },
        },
      },
    ],
  },
};

const templateSchema: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    title: { type: 'string', description: 'May hold {{title}}.' },
    description: { type: 'string' },
    accept: { ...texts, description: 'Acceptance criteria.' },
    labels: texts,
    type: { type: 'string', enum: taskTypes },
    priority: { type: ['integer', 'string'] },
    agent: { type: 'string', enum: agentKinds },
    model: { type: 'string', description: 'Model that the agent is asked for.' },
    gate: { type: 'string' },
    test_mode: { type: 'string', enum: testModes },
    test_scope: { type: 'string', enum: testScopes },
    max_attempts: { type: 'integer' },
    plan: { type: 'boolean' },
    sub_tasks: { ...texts, description: 'Titles of sub-tasks, in their order.' },
  },
};

const endpointSchema: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    url: { type: 'string', description: 'Where the events are posted to.' },
    secret: { type: 'string', description: 'Signs what is posted; better in an own file.' },
    secret_env: { type: 'string', description: 'Environment variable that holds the secret.' },
    events: { ...texts, description: 'Without it, every event.' },
    format: { type: 'string', enum: ['drover', 'slack', 'discord'] },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    enabled: { type: 'boolean' },
  },
};
