// All requests that an agent may send about its own attempt. This list is separate from the one for
// users' clients. It uses the same protocol after a handshake with the attempt's token. The
// handlers check limits, because their refusals are sentences for a model.

import * as z from 'zod/mini';
import type { AgentAdded, AgentAnswer, AgentBoard, AgentTask } from '../agent-views.ts';
import { anyText, anyTexts, flag, boundedList, number, optional } from './fields.ts';

const described = z.describe;

const givenFindings = boundedList(
  z.object({
    at: optional(anyText.check(described('file:line'))),
    severity: anyText.check(described('"blocking" or "minor".')),
    text: anyText.check(described('One sentence: what is wrong, and when.')),
  }),
  100,
  'findings',
);
const givenCriteria = boundedList(
  z.object({
    met: flag,
    evidence: anyText.check(described('The place or the test that shows it, or what is missing.')),
  }),
  1_000,
  'criteria',
);

export const agentShapes = {
  /** The task itself, or a related one: its parent, its sub-tasks, its blockers. */
  'agent.task': { id: optional(anyText) },
  'agent.board': {},
  'agent.add': {
    kind: anyText,
    title: anyText.check(described('What is to be done, in one line.')),
    description: optional(
      anyText.check(
        described(
          'Everything the agent that does it needs to know. It does not see your conversation.',
        ),
      ),
    ),
    accept: optional(
      anyTexts.check(described('Acceptance criteria: how to tell that it is done.')),
    ),
    /** Only in a follow-up: its blockers besides the agent's own task. */
    blocked_by: optional(
      anyTexts.check(described('Ids of other tasks that it has to wait for as well.')),
    ),
  },
  'agent.block': {
    by: anyText.check(described('Id of the task to wait for.')),
    reason: optional(anyText),
  },
  'agent.ask': {
    text: anyText,
    choices: optional(anyTexts.check(described('Answers to choose from.'))),
    wait_ms: optional(number),
  },
  'agent.progress': { text: anyText },
  /** Allowed only for an agent that reviews. */
  'agent.review': {
    verdict: anyText.check(described('"pass" or "block".')),
    findings: givenFindings,
    criteria: givenCriteria,
  },
  'agent.remember': {
    text: anyText.check(described('One fact in one sentence, at most 280 characters.')),
    at: optional(
      anyText.check(described('The line that shows it, as file:line (src/cart.ts:12).')),
    ),
  },
};

export interface AgentAnswers {
  'agent.task': AgentTask;
  'agent.board': AgentBoard;
  'agent.add': AgentAdded;
  'agent.block': { message: string };
  'agent.ask': AgentAnswer;
  'agent.progress': { message: string };
  'agent.review': { message: string };
  'agent.remember': { note: string; message: string };
}
