// Prints the output of an attempt's agent part by part. Sub-tasks run one after another inside
// their parent's attempt, each with a separate log.

import type { Client, LogPageView, TaskView } from '../protocol/api.ts';
import type { CommandContext } from './context.ts';
import { plainLine } from './plain-text.ts';
import { logLine } from './render/log-line.ts';

const pageEvents = 256 * 1024;
const lookEveryMs = 300;

export interface PrintLogOptions {
  readonly id: string;
  /** Absent = the last attempt. */
  readonly attempt: number | undefined;
  /** Called before each wait for more output. */
  readonly goesOn: () => boolean;
}

export async function printLog(
  context: CommandContext,
  client: Client,
  request: PrintLogOptions,
): Promise<void> {
  const given = request.attempt === undefined ? {} : { attempt: request.attempt };
  const first = await client.call('log.read', { id: request.id, ...given, offset: 0, limit: 1 });
  // Prints the same attempt to its end, even if a later one starts. 0 is the next attempt.
  const printer = new LogPrinter(context, client, first.attempt);
  const { tasks } = await client.call('status', {});
  const parts = partsOf(tasks, request.id);
  if (first.attempt === 0 && !first.ended && !request.goesOn()) {
    context.tell(`${request.id} has no attempts yet.`);
  }
  for (let left = parts; ;) {
    const begun = await printer.begunFirst(left);
    if (begun === null) {
      if (!request.goesOn() || (await printer.isOver(request.id)))
        return printer.sayGate(request.id);
      await context.surroundings.sleep(lookEveryMs);
      continue;
    }
    left = left.filter((part) => part !== begun);
    if (parts.length > 1) printer.name(begun);
    const others = left;
    await printer.printPart(begun, {
      goesOn: request.goesOn,
      nextHasBegun: async () => (await printer.begunFirst(others)) !== null,
    });
  }
}

/** The task with all of its descendants. */
function partsOf(tasks: readonly TaskView[], id: string): readonly TaskView[] {
  const ids = new Set([id]);
  // Sub-tasks follow their parents and are at most two levels deep, but a moved one may precede
  // them.
  for (let level = 0; level < 2; level += 1) {
    for (const task of tasks) {
      if (task.parent_id !== null && ids.has(task.parent_id)) ids.add(task.id);
    }
  }
  return tasks.filter((task) => ids.has(task.id));
}

interface PartWatch {
  readonly goesOn: () => boolean;
  readonly nextHasBegun: () => Promise<boolean>;
}

class LogPrinter {
  readonly #context: CommandContext;
  readonly #client: Client;
  #attempt: number;
  #isNamed = false;
  /** The offset up to which each log was printed. */
  readonly #ends = new Map<string, number>();

  constructor(context: CommandContext, client: Client, attempt: number) {
    this.#context = context;
    this.#client = client;
    this.#attempt = attempt;
  }

  /** Returns the part that started first according to the logs. */
  async begunFirst(parts: readonly TaskView[]): Promise<TaskView | null> {
    let first: { readonly part: TaskView; readonly at: number } | null = null;
    for (const part of parts) {
      const [event] = (await this.#read(part.id, 0, 1)).events;
      if (event !== undefined && (first === null || event.at < first.at)) {
        first = { part, at: event.at };
      }
    }
    return first?.part ?? null;
  }

  /** Printed only at the end of a log. */
  async isOver(id: string): Promise<boolean> {
    return (await this.#read(id, this.#ends.get(id) ?? 0, 1)).ended;
  }

  /** Prints the output of a failed gate for the attempt's work, at the end of its log. */
  async sayGate(id: string): Promise<void> {
    if (this.#context.json) return;
    const attempts = await this.#client.call('attempts', { id });
    const attempt = attempts.find((one) => one.number === this.#attempt);
    if (attempt?.failure_kind === 'gate_failed' && attempt.error !== null) {
      this.#context.say(`gate  ${plainLine(attempt.error)}`);
    }
  }

  name(part: TaskView): void {
    this.#isNamed = true;
    this.#context.say(`== ${part.id}  ${plainLine(part.title)}`);
  }

  /**
   * Prints page by page and, while the part runs, later output too, until the next part has
   * started.
   */
  async printPart(part: TaskView, watch: PartWatch): Promise<void> {
    let offset = 0;
    let isLeft = false;
    for (;;) {
      const page = await this.#read(part.id, offset, pageEvents);
      this.#print(part.id, page);
      const moved = page.next_offset > offset;
      offset = page.next_offset;
      this.#ends.set(part.id, offset);
      if (moved) continue;
      if (isLeft || page.ended || !watch.goesOn()) return;
      // Reads once more after the next attempt has started, because lines written in between belong
      // to this one.
      isLeft = await watch.nextHasBegun();
      if (!isLeft) await this.#context.surroundings.sleep(lookEveryMs);
    }
  }

  #print(part: string, page: LogPageView): void {
    for (const line of page.events) {
      if (!this.#context.json) this.#context.say(logLine(line));
      else this.#context.printJson(this.#isNamed ? { ...line, task_id: part } : line);
    }
  }

  async #read(id: string, offset: number, limit: number): Promise<LogPageView> {
    const page = await this.#client.call('log.read', { id, attempt: this.#attempt, offset, limit });
    if (this.#attempt === 0) this.#attempt = page.attempt;
    return page;
  }
}
