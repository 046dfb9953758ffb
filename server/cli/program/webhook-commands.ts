// The commands for webhooks.

import { Option, type Command } from 'commander';
import { calls, define, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/webhooks.ts');

export function defineWebhookCommands(program: Command, host: ProgramHost): void {
  const webhooks = define(program, 'webhooks', 'List, test and retry webhooks', [
    'webhooks list',
    'webhooks test',
  ]);
  webhooks.helpCommand(false);
  const list = define(webhooks, 'list', 'List endpoints and recent deliveries', [
    'webhooks list --state failed',
  ]);
  list
    .option('--endpoint <name>', 'Only this endpoint')
    .addOption(
      new Option('--state <state>', 'Only deliveries in this state').choices([
        'pending',
        'sent',
        'failed',
      ]),
    )
    .addOption(
      new Option('--limit <n>', 'Maximum number of deliveries').argParser((text) => {
        if (!/^[1-9][0-9]{0,3}$/.test(text)) list.error('error: --limit must be from 1 to 9999');
        return Number(text);
      }),
    )
    .action(calls(host, list, async () => (await load()).webhooksList));
  const test = define(webhooks, 'test [endpoint]', 'Send a test message to one endpoint or all', [
    'webhooks test',
    'webhooks test chat',
  ]);
  test.action(calls(host, test, async () => (await load()).webhooksTest));
  const retry = define(
    webhooks,
    'retry [ids...]',
    'Send these deliveries again, or all that failed',
    ['webhooks retry', 'webhooks retry 1800000000000000000-4k9d2m1x'],
  );
  retry.action(calls(host, retry, async () => (await load()).webhooksRetry));
}
