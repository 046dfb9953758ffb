// The page of requests: the parameters of each from its schema, and the command that sends it.

import * as z from 'zod/mini';
import { dataRequests, type RequestName } from '../../server/protocol/api.ts';
import { boardShapes } from '../../server/protocol/requests/board.ts';
import { epicShapes } from '../../server/protocol/requests/epics.ts';
import { exchangeShapes } from '../../server/protocol/requests/exchange.ts';
import type { Shape } from '../../server/protocol/requests/fields.ts';
import { noteShapes } from '../../server/protocol/requests/notes.ts';
import { reviewShapes } from '../../server/protocol/requests/reviews.ts';
import { runShapes } from '../../server/protocol/requests/runs.ts';
import { taskShapes } from '../../server/protocol/requests/tasks.ts';
import { upkeepShapes } from '../../server/protocol/requests/upkeep.ts';
import { commandRequests } from './command-requests.ts';

const topics: readonly (readonly [string, Readonly<Record<string, Shape>>])[] = [
  ['The board and the past', boardShapes],
  ['Tasks', taskShapes],
  ['Epics', epicShapes],
  ['Runs', runShapes],
  ['Reviews', reviewShapes],
  ['Notes', noteShapes],
  ['Import and export', exchangeShapes],
  ['Upkeep', upkeepShapes],
];

const introduction = `# Requests

The requests that a client can send to the backend: JSON-RPC 2.0 with \`Content-Length\` frames, over
the project's socket or the pipes of \`drover server --stdio\`. The first request is \`hello\`.
Parameters are an object. Unknown names are ignored; an invalid value is refused with the description
below. The types of the answers are in \`server/protocol/requests\`. Requests that need no backend are
answered by the command itself, from the database.

Written by \`npm run docs\` from the schemas that check each request.
`;

const isData: ReadonlySet<string> = new Set(dataRequests);
const boundless = / from -?\d+ to 9007199254740991$/u;

function commandsOf(request: string): readonly string[] {
  return Object.entries(commandRequests)
    .filter(([, made]) => made.request === request)
    .map(([command]) => `\`drover ${command}\``);
}

/** The schema's message for a missing value. */
function valueOf(part: z.ZodMiniType): string {
  const words = part.safeParse(Symbol('nothing')).error?.issues[0]?.message ?? 'anything';
  const orNull = part.safeParse(null).success ? ', or null' : '';
  return `${words.replace(boundless, (bounds) => lowest(bounds))}${orNull}`;
}

function lowest(bounds: string): string {
  const from = /^ from (-?\d+) /u.exec(bounds)?.[1] ?? '';
  return Number(from) === Number.MIN_SAFE_INTEGER ? '' : ` from ${from}`;
}

function descriptionOf(part: z.ZodMiniType): string {
  const { innerType } = part._zod.def as { readonly innerType?: z.ZodMiniType };
  const { description } = z.globalRegistry.get(innerType ?? part) ?? {};
  return description === undefined ? '' : `.\n  ${description}`;
}

function sectionOf(name: string, shape: Shape): string {
  const commands = commandsOf(name);
  const made = commands.length === 0 ? '' : ` (${commands.join(', ')})`;
  const fields = Object.entries(shape).map(([key, part]) => {
    const optional = part._zod.optin === 'optional' ? ' (optional)' : '';
    return `* \`${key}\`${optional}: ${valueOf(part)}${descriptionOf(part)}`;
  });
  const list = fields.length === 0 ? ['No parameters.'] : fields;
  const needs = isData.has(name) ? ['Needs no backend.', ''] : [];
  return [`### \`${name}\`${made}`, '', ...needs, ...list, ''].join('\n');
}

export function requestsPage(): string {
  const sections = topics.map(([title, shapes]) => {
    const requests = Object.entries(shapes) as [RequestName, Shape][];
    return `## ${title}\n\n${requests.map(([name, shape]) => sectionOf(name, shape)).join('\n')}`;
  });
  return [introduction, ...sections].join('\n');
}
