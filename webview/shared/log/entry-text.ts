// An entry as plain text: for copying, search and screen readers.

import { formatCount } from '../../../server/core/format.ts';
import { agentTitle } from '../../../server/core/plan/agent-titles.ts';
import type { Entry, EntryBody } from './transcript.ts';
import { inputText } from './tool-view.ts';
import { visibleLine, visibleText } from '../looks/visible-text.ts';

export function entryText(entry: Entry): string {
  return visibleText(rawText(entry.body));
}

function rawText(body: EntryBody): string {
  switch (body.kind) {
    case 'prompt':
      return body.text ?? '';
    case 'started':
      return startedText(body);
    case 'message':
    case 'thinking':
      return body.text;
    case 'tool': {
      const head = body.title === '' ? body.name : body.title;
      const input = inputText(body.name, body.input);
      return [head, input, body.result?.text ?? ''].filter((part) => part !== '').join('\n');
    }
    case 'result':
      return body.result.text;
    case 'output':
      return body.lines.join('\n');
    case 'retry':
      return retryText(body);
    case 'question':
      return [body.text, questionEnd(body)].filter((part) => part !== '').join('\n');
    case 'hint':
    case 'note':
      return body.text;
    case 'exit':
      return exitText(body);
  }
}

export function startedText(body: Extract<EntryBody, { kind: 'started' }>): string {
  const who = agentTitle(visibleLine(body.agent)) || 'The agent';
  const model = visibleLine(body.model ?? '');
  return `${who} ${body.resumed ? 'resumed' : 'started'}${model === '' ? '' : ` (${model})`}`;
}

/** `isPaused`: this end is the reason why the task is paused now. */
export function exitText(body: Extract<EntryBody, { kind: 'exit' }>, isPaused = false): string {
  if (body.stopped === true) return isPaused ? 'Paused' : 'Stopped';
  const { ended = 0 } = body;
  const leftovers = formatCount(ended, 'leftover process', 'leftover processes');
  return ended === 0 ? howItEnded(body) : `${howItEnded(body)}; ${leftovers} killed`;
}

function howItEnded(body: Extract<EntryBody, { kind: 'exit' }>): string {
  if (body.signal !== null) return `Ended by ${visibleLine(body.signal)}`;
  if (body.code === null) return 'Ended';
  return body.code === 0 ? 'Ended' : `Ended with exit code ${body.code}`;
}

export function retryText(body: Extract<EntryBody, { kind: 'retry' }>): string {
  const answer = body.status === null ? 'did not answer' : `answered ${body.status}`;
  const error = visibleLine(body.error);
  const times = body.count === 1 ? '' : ` (${body.count} times)`;
  const wait = Math.round(body.delayMs / 1000);
  const next = wait > 0 ? `; tried again after ${wait} s` : '';
  return `The provider ${answer}${error === '' ? '' : `: ${error}`}${times}${next}`;
}

export function questionEnd(body: Extract<EntryBody, { kind: 'question' }>): string {
  switch (body.state) {
    case 'open':
      return '';
    case 'answered':
      return `Answered: ${visibleLine(body.answer ?? '')}`;
    case 'withdrawn':
      return 'Withdrawn: no answer is needed anymore.';
  }
}

export function hintState(body: Extract<EntryBody, { kind: 'hint' }>): string {
  switch (body.state) {
    case 'sent':
      return 'sent';
    case 'delivered':
      return 'read by the agent';
    case 'dropped':
      return 'not read by the agent';
  }
}

/** The kind of this entry in one or two words, which starts its accessible name. */
export function entryKind(body: EntryBody): string {
  switch (body.kind) {
    case 'prompt':
      return 'Prompt';
    case 'started':
    case 'exit':
      return 'Agent';
    case 'message':
      return 'Agent says';
    case 'thinking':
      return 'Thinking';
    case 'tool':
      return 'Tool';
    case 'result':
      return body.result.isError ? 'Tool error' : 'Tool result';
    case 'output':
      return body.stream === 'stderr' ? 'Error output' : 'Output';
    case 'retry':
      return 'Retry';
    case 'question':
      return body.asks === 'permission' ? 'Permission' : 'Question';
    case 'hint':
      return 'You';
    case 'note':
      return body.level === 'warning' ? 'Warning' : 'Note';
  }
}

const labelCharsMax = 160;

/** The accessible name of a row. */
export function entryLabel(entry: Entry): string {
  const { body } = entry;
  const text =
    body.kind === 'tool' ? visibleLine(body.title || body.name) : visibleLine(headOf(entry));
  const state =
    body.kind === 'tool' && body.result === null
      ? ', running'
      : body.kind === 'tool' && body.result?.isError === true
        ? ', failed'
        : '';
  const cut = text.length > labelCharsMax ? `${text.slice(0, labelCharsMax)}…` : text;
  return `${entryKind(body)}: ${cut}${state}`;
}

/** Enough of the text for a label, without processing all of a huge text. */
function headOf(entry: Entry): string {
  const { body } = entry;
  const long = 'text' in body ? body.text : null;
  if (long !== null) return long.slice(0, labelCharsMax * 4);
  return entryText(entry).slice(0, labelCharsMax * 4);
}
