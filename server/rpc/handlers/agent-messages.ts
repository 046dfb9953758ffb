// An agent's messages to people: questions, which wait in the inbox, and progress notes.

import { createHash } from 'node:crypto';
import { Refusal } from '../../core/failure.ts';
import type { AgentParams, AgentResult } from '../../protocol/agent-requests.ts';
import type { AgentAnswer } from '../../protocol/agent-views.ts';
import { askedInAttempt, askQuestion, questionById, type QuestionRow } from '../../store/port.ts';
import { attemptAtWork, boundedText, notMore } from './agent-attempt.ts';
import type { AgentHandlerDeps } from './agent-deps.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';

const questionsPerPartMax = 20;
const questionCharactersMax = 4_000;
const choicesMax = { items: 10, characters: 200 };
/** Most agents give a tool a minute. The answer "not answered yet" comes before that. */
const waitMaxMs = 45_000;
const lookAgainMs = 1_000;
const noteCharactersMax = 1_000;
const notesPerPartMax = 200;

/** Distinguishes this tool's questions from those of the agent's own protocol. */
const requestPrefix = 'tool:';

/**
 * The same text is the same question, so an agent that asks again continues to wait, and a resumed
 * agent does not ask twice.
 */
export async function askForAgent(
  deps: AgentHandlerDeps,
  scope: AgentScope,
  given: AgentParams<'agent.ask'>,
): Promise<AgentAnswer> {
  const { store, mask, switchboard } = deps.engine;
  const text = mask(boundedText(given.text, 'The question', questionCharactersMax));
  const choices = notMore(given.choices ?? [], 'choices', choicesMax).map(mask);
  const requestId = requestPrefix + digestOf([text, ...choices]);
  const { row, isNew } = await store.transaction(async (tx) => {
    await attemptAtWork(tx, scope);
    const asked = await askedInAttempt(tx, scope, requestPrefix);
    const known = asked.some((question) => question.request_id === requestId);
    if (!known && asked.length >= questionsPerPartMax) {
      throw new Refusal(
        'too_many',
        `${scope.part} has asked ${asked.length} questions, which is the limit. Decide yourself, and note it in your summary.`,
      );
    }
    const { taskId: _root, part: taskId, attempt } = scope;
    const question = { taskId, attempt, requestId, kind: 'question', text, choices };
    return { row: await askQuestion(tx, store.sources, question), isNew: !known };
  });
  if (isNew) switchboard.note(scope.taskId, `The agent asks: ${text}`);
  return waitForAnswer(deps, scope, row, Math.min(given.wait_ms ?? waitMaxMs, waitMaxMs));
}

function digestOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32);
}

async function waitForAnswer(
  deps: AgentHandlerDeps,
  scope: AgentScope,
  asked: QuestionRow,
  waitMs: number,
): Promise<AgentAnswer> {
  const { store, clock } = deps.engine;
  const endMs = clock.now() + waitMs;
  for (;;) {
    const change = nextChange(deps, Math.min(lookAgainMs, Math.max(1, endMs - clock.now())));
    const row = (await questionById(store.db, asked.id)) ?? asked;
    if (row.state !== 'open' || clock.now() >= endMs) {
      change.off();
      return { question: row.id, state: row.state as AgentAnswer['state'], answer: row.answer };
    }
    await change.happened;
    await attemptAtWork(store.db, scope);
  }
}

/** Subscribes before the row is read, so that no change in between is missed. */
function nextChange(
  { engine }: AgentHandlerDeps,
  maxMs: number,
): { readonly happened: Promise<void>; readonly off: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const offFeed = engine.store.feed.onAppend(resolve);
  const offTimer = engine.clock.timer(maxMs, resolve);
  const off = (): void => {
    offFeed();
    offTimer();
  };
  return { happened: promise.finally(off), off };
}

/** Writes notes into the attempt's log. Refuses further notes beyond the limit. */
export class AgentNotes {
  #count = 0;

  async add(
    deps: AgentHandlerDeps,
    scope: AgentScope,
    given: AgentParams<'agent.progress'>,
  ): Promise<AgentResult<'agent.progress'>> {
    const { store, switchboard, mask } = deps.engine;
    const text = mask(boundedText(given.text, 'The note', noteCharactersMax));
    await attemptAtWork(store.db, scope);
    if (this.#count >= notesPerPartMax) {
      throw new Refusal(
        'too_many',
        `${this.#count} notes are enough; put the rest into your summary.`,
      );
    }
    this.#count += 1;
    if (!switchboard.note(scope.taskId, text)) {
      throw new Refusal(
        'attempt_over',
        `${scope.part} is no longer followed, so the note was not stored.`,
      );
    }
    return { message: 'Noted.' };
  }
}
