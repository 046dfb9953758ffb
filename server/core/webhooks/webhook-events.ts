// Maps feed events to webhooks and selects the fields to send. Pure: the same event always produces
// the same bytes, so a repeated delivery is identical.

import { isOneOf } from '../one-of.ts';
import { type FeedEvent, numberIn, textIn, textsIn } from '../history/feed-event.ts';
import { formatDuration, withoutMarkup } from '../format.ts';

export const webhookEventNames = [
  'task.created',
  'task.claimed',
  'task.started',
  'task.paused',
  'task.resumed',
  'task.blocked',
  'task.waiting',
  'task.retry',
  'task.conflict',
  'task.needs_review',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'question.asked',
  'worker.started',
  'worker.stopped',
  'run.started',
  'run.ended',
  'epic.landed',
  'machine.joined',
  'machine.left',
  'machine.died',
  'machine.cut_off',
  'machine.reconnected',
  'machine.took_over',
] as const;

export type WebhookEventName = (typeof webhookEventNames)[number];

/** Webhook events whose feed event has a different name. */
const otherNames: Readonly<Record<string, WebhookEventName>> = {
  'worktree.ready': 'worker.started',
  'agent.ended': 'worker.stopped',
  'run.finished': 'run.ended',
};

/** Event types that the projection must read. */
export const webhookFeedTypes: readonly string[] = [
  ...webhookEventNames.filter((name) => !Object.values(otherNames).includes(name)),
  ...Object.keys(otherNames),
];

/** Returns null if the event type is not sent as a webhook. */
export function parseWebhookEvent(type: string): WebhookEventName | null {
  return otherNames[type] ?? (isOneOf(webhookEventNames, type) && !isOtherName(type) ? type : null);
}

function isOtherName(name: WebhookEventName): boolean {
  return Object.values(otherNames).includes(name);
}

export type WebhookData = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Maximum characters of titles and errors in a delivery. */
const titleMax = 500;
const errorMax = 2_000;

/** Statuses in the upstream format that the feed does not contain. */
const statusOf: { readonly [N in WebhookEventName]?: string } = {
  'task.created': 'created',
  'task.claimed': 'claimed',
  'task.started': 'in_progress',
  'task.resumed': 'ready',
};

export function webhookData(name: WebhookEventName, event: FeedEvent): WebhookData {
  const [kind] = name.split('.');
  switch (kind) {
    case 'question':
      return { question: questionData(event) };
    case 'worker':
      return { worker: workerData(event) };
    case 'run':
      return { run: runData(event) };
    case 'epic':
      return { epic: withoutNulls({ epic_id: event.epic_id, sha: textIn(event, 'sha') }) };
    case 'machine':
      return { machine: machineData(event) };
    default:
      return { task: taskData(name, event) };
  }
}

function taskData(name: WebhookEventName, event: FeedEvent): Readonly<Record<string, unknown>> {
  return withoutNulls({
    task_id: event.task_id,
    title: cut(textIn(event, 'title') ?? event.task_id ?? '', titleMax),
    status: statusOf[name] ?? textIn(event, 'status') ?? name.slice('task.'.length),
    epic_id: event.epic_id,
    worker_id: textIn(event, 'worker'),
    error: cutOrNull(textIn(event, 'error') ?? textIn(event, 'reason'), errorMax),
    attempts: numberIn(event, 'attempts') ?? numberIn(event, 'attempt'),
    duration_ms: numberIn(event, 'duration'),
  });
}

function questionData(event: FeedEvent): Readonly<Record<string, unknown>> {
  return withoutNulls({
    question_id: textIn(event, 'question'),
    task_id: event.task_id,
    kind: textIn(event, 'kind'),
    text: cutOrNull(textIn(event, 'text'), errorMax),
    choices: textsIn(event, 'choices').map((choice) => cut(choice, titleMax)),
  });
}

function workerData(event: FeedEvent): Readonly<Record<string, unknown>> {
  return withoutNulls({
    worker_id: `${event.run_id ?? 'none'}/${event.task_id ?? 'none'}`,
    task_id: event.task_id,
    run_id: event.run_id,
    outcome: textIn(event, 'outcome'),
  });
}

function runData(event: FeedEvent): Readonly<Record<string, unknown>> {
  const counts = ['completed', 'failed', 'left', 'cancelled', 'total', 'exit_code', 'workers'];
  return withoutNulls({
    run_id: event.run_id,
    epic_id: event.epic_id,
    state: textIn(event, 'state'),
    target: textIn(event, 'target') ?? textIn(event, 'result_branch'),
    ...Object.fromEntries(counts.map((key) => [key, numberIn(event, key)])),
  });
}

function machineData(event: FeedEvent): Readonly<Record<string, unknown>> {
  return withoutNulls({
    name: textIn(event, 'machine'),
    machine_id: textIn(event, 'machine_id'),
    branch: textIn(event, 'branch'),
    from_machine: textIn(event, 'from_machine'),
  });
}

function withoutNulls(
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

function cutOrNull(text: string | null, max: number): string | null {
  return text === null ? null : cut(text, max);
}

export interface WebhookMessage {
  readonly name: WebhookEventName | 'test';
  readonly endpoint: string;
  readonly deliveryId: string;
  /** Unix milliseconds of the event. */
  readonly atMs: number;
  readonly data: WebhookData;
  /** Link to the item on the page of `drover web`. Absent if no page is configured. */
  readonly link?: string;
}

/** Events with an inbox item that waits for a person. */
const inInbox: ReadonlySet<WebhookEventName> = new Set([
  'question.asked',
  'task.blocked',
  'task.conflict',
  'task.needs_review',
  'task.failed',
]);

/** The link to an event's item on the page at `url`, for the project with this id. */
export function webhookLink(
  url: string,
  project: string,
  name: WebhookEventName,
  event: FeedEvent,
): string {
  const id = textIn(event, 'question') ?? event.task_id;
  const page = `${url.replace(/\/+$/u, '')}/#/~${project}`;
  if (id === null) return `${page}/run`;
  return `${page}/${inInbox.has(name) ? 'inbox' : 'stream'}/${encodeURIComponent(id)}`;
}

/**
 * The body in Drover's own format: the upstream keys, plus `type`, the event's name in the Standard
 * Webhooks format.
 */
export function droverBody(message: WebhookMessage): string {
  return JSON.stringify({
    event: message.name,
    type: message.name,
    timestamp: Math.floor(message.atMs / 1_000),
    webhook_id: message.endpoint,
    delivery_id: message.deliveryId,
    data: message.data,
    ...(message.link !== undefined && { link: message.link }),
  });
}

export function slackBody(message: WebhookMessage): string {
  // Slack interprets these three characters as mentions and links, for example `<!channel>`.
  return JSON.stringify({ text: withLink(withoutMarkup(describeEvent(message)), message) });
}

/** Discord refuses longer content. */
const discordMax = 2_000;

export function discordBody(message: WebhookMessage): string {
  const words = describeEvent(message).replaceAll(/[\\*_~`|>#[\]()@<]/g, '\\$&');
  const content = withLink(cut(words, discordMax - (message.link?.length ?? 0) - 1), message);
  return JSON.stringify({ content, allowed_mentions: { parse: [] } });
}

function withLink(words: string, { link }: WebhookMessage): string {
  return link === undefined ? words : `${words} ${link}`;
}

/** Describes the event in one line of plain text for a chat. */
export function describeEvent({ name, data }: WebhookMessage): string {
  if (name === 'test') return 'Drover: this is a test message.';
  const { task, run, worker, epic, machine, question } = data;
  if (question !== undefined) return questionSentence(question);
  if (machine !== undefined) return machineSentence(name, machine);
  if (run !== undefined) return runSentence(name, run);
  if (epic !== undefined) return `Drover: epic ${wordOf(epic['epic_id'])} landed.`;
  if (worker !== undefined) {
    const verb = name === 'worker.started' ? 'started' : 'stopped';
    return `Drover: an agent ${verb} for ${wordOf(worker['task_id'])}.`;
  }
  const title = oneLine(wordOf(task?.['title']));
  const duration = task?.['duration_ms'];
  const took = typeof duration === 'number' ? ` after ${formatDuration(duration)}` : '';
  const error = task?.['error'];
  const why = typeof error === 'string' && error !== '' ? `: ${cut(oneLine(error), 300)}` : '.';
  return `Drover: ${wordOf(task?.['task_id'])} "${title}" ${verbOf(name)}${took}${why}`;
}

function questionSentence(question: Readonly<Record<string, unknown>>): string {
  const text = cut(oneLine(wordOf(question['text'])), titleMax);
  return `Drover: ${wordOf(question['task_id'])} asks: ${text}`;
}

function machineSentence(
  name: WebhookEventName,
  machine: Readonly<Record<string, unknown>>,
): string {
  const who = oneLine(wordOf(machine['name']));
  const verb = machineVerbs[name] ?? name.slice('machine.'.length);
  if (name !== 'machine.took_over') return `Drover: machine ${who} ${verb}.`;
  const from = oneLine(wordOf(machine['from_machine']));
  return `Drover: machine ${who} ${verb} the landing of ${wordOf(machine['branch'])} from ${from}.`;
}

const machineVerbs: { readonly [N in WebhookEventName]?: string } = {
  'machine.joined': 'joined the fleet',
  'machine.left': 'left the fleet',
  'machine.died': 'died',
  'machine.cut_off': 'cannot reach the git remote',
  'machine.reconnected': 'reaches the git remote again',
  'machine.took_over': 'took over',
};

function runSentence(name: WebhookEventName, run: Readonly<Record<string, unknown>>): string {
  const id = wordOf(run['run_id']);
  if (name === 'run.started') return `Drover: ${id} started.`;
  const counts = ['completed', 'failed', 'left']
    .filter((key) => typeof run[key] === 'number')
    .map((key) => `${wordOf(run[key])} ${key}`);
  return `Drover: ${id} ended: ${counts.join(', ')}.`;
}

const verbs: { readonly [N in WebhookEventName]?: string } = {
  'task.created': 'was created',
  'task.claimed': 'was claimed',
  'task.paused': 'was paused',
  'task.blocked': 'is blocked',
  'task.waiting': 'waits for quota',
  'task.retry': 'will be retried',
  'task.conflict': 'has a conflict',
  'task.needs_review': 'needs a review',
  'task.cancelled': 'was canceled',
};

function verbOf(name: WebhookEventName): string {
  return verbs[name] ?? name.slice('task.'.length);
}

function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
