// The commands webhooks list, test and retry.

import type { WebhookDeliveryView, WebhookEndpointView } from '../../protocol/webhook-views.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export interface WebhookListOptions {
  readonly endpoint?: string;
  readonly state?: string;
  readonly limit?: number;
}

export async function webhooksList(
  context: CommandContext,
  { endpoint, state, limit }: WebhookListOptions,
): Promise<number> {
  const client = await context.client('data');
  const found = await client.call('webhooks.list', {
    ...(endpoint !== undefined && { endpoint }),
    ...(state !== undefined && { state }),
    ...(limit !== undefined && { limit }),
  });
  const lines =
    found.endpoints.length === 0
      ? ['No webhook endpoint is set. Set webhooks.url in .drover.toml or DROVER_WEBHOOK_URL.']
      : found.endpoints.map(endpointLine);
  const deliveries = found.deliveries.map(deliveryLine);
  context.answer(
    found,
    [...lines, ...(deliveries.length > 0 ? ['', ...deliveries] : [])].map(plainLine).join('\n'),
  );
  return exitCodes.done;
}

function endpointLine(one: WebhookEndpointView): string {
  const facts = [
    one.format,
    one.events.length === 0 ? 'every event' : one.events.join(', '),
    one.signed ? 'signed' : 'not signed',
    ...(one.enabled ? [] : ['off']),
    ...(one.gone === null ? [] : [`stopped: ${one.gone}`]),
  ];
  const counts = `${one.sent} sent, ${one.pending} pending, ${one.failed} failed`;
  return `${one.name}  ${one.url}  ${counts}  (${facts.join('; ')})`;
}

function deliveryLine(one: WebhookDeliveryView): string {
  const tries = `${one.tries} ${one.tries === 1 ? 'try' : 'tries'}`;
  const answer = one.last_answer === null ? '' : `, last answer: ${one.last_answer}`;
  const next =
    one.next_at === null ? '' : `, next try ${new Date(one.next_at * 1_000).toISOString()}`;
  return `${one.state.padEnd(7)} ${one.id}  ${one.endpoint}  ${one.event}  (${tries}${answer}${next})`;
}

export async function webhooksTest(
  context: CommandContext,
  endpoint: string | undefined,
): Promise<number> {
  const client = await context.client('data');
  const found = await client.call('webhooks.test', endpoint === undefined ? {} : { endpoint });
  const lines = found.results.map(
    ({ endpoint: name, ok, answer }) => `${ok ? 'ok    ' : 'FAILED'} ${name}: ${answer}`,
  );
  context.answer(found, lines.map(plainLine).join('\n'));
  return found.results.every(({ ok }) => ok) ? exitCodes.done : exitCodes.failed;
}

export async function webhooksRetry(
  context: CommandContext,
  ids: readonly string[],
): Promise<number> {
  const client = await context.client('engine');
  const found = await client.call('webhooks.retry', ids.length === 0 ? {} : { ids });
  const count = found.retried.length;
  context.answer(
    found,
    count === 0
      ? 'No failed delivery to send again.'
      : `Sending ${count} ${count === 1 ? 'delivery' : 'deliveries'} again.`,
  );
  return exitCodes.done;
}
