// The `.drover.toml` that `init` writes if none exists: every key explained and commented out, so
// that it has no effect until a user changes it.

import {
  settingKeys,
  settingTable,
  type SettingDefinition,
  type SettingKey,
} from '../core/settings/settings.ts';

const examples: { readonly [K in SettingKey]?: string } = {
  'agent.path': '"/usr/local/bin/claude"',
  'agent.args': '["--verbose"]',
  'agent.model': '"sonnet"',
  'agent.permission_mode': '"acceptEdits"',
  'agent.fallback': '["claude:opus", "codex"]',
  'agent.fallback_wait': '"10m"',
  'gate.needs': '["gpu"]',
  'gate.parallel': '2',
  'gate.network': '["localhost:5432"]',
  'setup.network': '["registry.npmjs.org"]',
  'spec.model': '"claude-sonnet-5-5"',
  guidelines: '"Run the linter before you finish."',
  default_labels: '["drover"]',
  worktree_root: '"../my-worktrees"',
  env_allow: '["JAVA_HOME"]',
  'gate.command': '"npm test"',
  'setup.command': '"npm ci"',
  'setup.copy': '[".env.test"]',
  'setup.inputs': '["tools/versions.txt"]',
  'worktree.sparse': '["packages/app"]',
  'worktree.disk_limit': '"20GB"',
  'land.mode': '"task"',
  'land.target': '"main"',
  'review.agent': '"codex"',
  'review.model': '"gpt-5-codex"',
  'review.usd': '0.5',
  'forge.base': '"main"',
  'forge.reviewers': '["lead", "acme/core"]',
  'forge.labels': '["drover"]',
  'forge.bots': '["review-app[bot]"]',
  'forge.intake': '"label:drover"',
  'budget.task_tokens': '2_000_000',
  'budget.task_usd': '5.0',
  'telemetry.sampling': '0.5',
  'telemetry.project': '"shop"',
  'budget.task_turns': '400',
  'budget.task_time': '"2h"',
  'budget.epic_tokens': '20_000_000',
  'budget.epic_usd': '50.0',
  'budget.epic_turns': '4_000',
  'budget.epic_time': '"24h"',
  'budget.day_tokens': '50_000_000',
  'budget.day_usd': '100.0',
  'budget.day_turns': '10_000',
  'budget.day_time': '"72h"',
  'web.url': '"https://desk.example.com"',
  'webhooks.url': '"https://example.com/drover"',
  'webhooks.secret': '"whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="',
  'remote.provisioner': '"ssh"',
  'remote.image': '"registry.example/worker:1"',
  'remote.memory': '"2GB"',
  'remote.socket': '"/run/user/1000/podman/podman.sock"',
  'remote.metro': '"fra"',
  'remote.labels': '["gpu"]',
  'remote.env': '["ANTHROPIC_API_KEY"]',
  'remote.agent_path': '"claude"',
  'remote.url': '"https://worker.example"',
  'remote.git_remote': '"origin"',
  'remote.host': '"buildbox"',
  'remote.ssh_args': '["-p", "2222"]',
  'remote.hook': '"tools/worker.sh"',
  'fleet.name': '"atlas"',
  'fleet.labels': '["gpu", "os=linux"]',
  'fleet.agents': '4',
  'fleet.lands': 'false',
};

export function sampleToml(): string {
  const lines = [
    "# Drover's settings for this project. Every line is a comment: remove the `#` from the settings that you want to change.",
    '# Order: command line, environment, this file, ~/.config/drover/config.toml, default.',
    '',
  ];
  const inFile = settingKeys.filter((key) => definitionOf(key).inFile);
  for (const key of inFile) {
    const isTable = key === 'agents' || key === 'templates';
    if (!key.includes('.') && !isTable) lines.push(...sampleLines(key, key), '');
  }
  let table = '';
  for (const key of inFile) {
    const dot = key.indexOf('.');
    if (dot === -1 || key === 'agent.env' || key === 'webhooks.endpoints' || key === 'gate.stages')
      continue;
    if (table !== key.slice(0, dot)) {
      table = key.slice(0, dot);
      lines.push(`# [${table}]`);
    }
    lines.push(...sampleLines(key, key.slice(dot + 1)), '');
    if (key === 'agent.fallback_wait') {
      lines.push(`# ${definitionOf('agent.env').doc}`, '# [agent.env]', '# MY_SETTING = "1"', '');
      lines.push(`# ${definitionOf('agents').doc}`, '# [agents.codex]', '# path = "codex-acp"', '');
    }
  }
  lines.push(...stageLines, '', ...endpointLines, '', ...templateLines);
  return `${lines.join('\n').trimEnd()}\n`;
}

const stageLines: readonly string[] = [
  `# ${settingTable['gate.stages'].doc}`,
  '# [gate.stages]',
  '# lint = "npm run lint"',
  '# test = "npm test"',
  '# docs = { command = "npm run docs", paths = ["docs", "*.md"] }',
];

const endpointLines: readonly string[] = [
  `# ${settingTable['webhooks.endpoints'].doc}`,
  '# [webhooks.endpoints.chat]',
  '# url = "https://chat.example.com/hooks/your-channel"',
  '# format = "slack"',
  '# events = ["task.failed", "run.ended"]',
];

const templateLines: readonly string[] = [
  `# ${settingTable.templates.doc}`,
  '# [templates.bug]',
  '# title = "Fix: {{title}}"',
  '# description = "It was seen in {{area}}. Write a test that fails first."',
  '# accept = ["A test shows that it is fixed."]',
  '# labels = ["bug"]',
  '# type = "bug"',
  '# plan = true',
];

function definitionOf(key: SettingKey): SettingDefinition {
  return settingTable[key];
}

function sampleLines(key: SettingKey, name: string): readonly string[] {
  const { doc, fallback, value } = definitionOf(key);
  const allowed = value.type === 'choice' ? ` One of ${value.choices.join(', ')}.` : '';
  return [`# ${doc}${allowed}`, `# ${name} = ${examples[key] ?? JSON.stringify(fallback)}`];
}
