// Requests that take plans in and give them out: files, and plans made of design texts.

import type { IssuePlanView, SpecPlanView } from '../spec-plan.ts';
import type { ImportResultView } from '../views.ts';
import {
  flag,
  integer,
  boundedList,
  oneOf,
  optional,
  text,
  texts,
  boundedText,
  textsByName,
} from './fields.ts';

/** The wire's limit: a file is sent as one text. */
const fileText = boundedText(40 * 1024 * 1024);
const badLinesMax = 1_000_000;
const idsMax = 2_000;

export const exchangeShapes = {
  import: {
    /** The file's text; bytes that are not UTF-8 are named by line. */
    text: fileText,
    file: boundedText(4_096),
    format: oneOf(['auto', 'session', 'jsonl', 'beads']),
    bad_utf8_lines: boundedList(integer(1), badLinesMax),
    dry_run: optional(flag),
    update: optional(flag),
    rename: optional(flag),
    skip_invalid: optional(flag),
    /**
     * For a Beads file: its text when both sides were last equal. Only differences from it are
     * imported.
     */
    base: optional(fileText),
  },
  export: {
    format: oneOf(['session', 'json', 'yaml', 'beads', 'jsonl']),
    /** For `beads`: the current file. Other tools write in it too, and their parts stay. */
    present: optional(fileText),
    /**
     * Both sides are kept equal: canceled tasks get no new line, and the lines of these ids stay.
     */
    leave: optional(boundedList(boundedText(64), idsMax)),
  },
  /**
   * Makes a plan of design texts (by name) and writes nothing; `import` takes its `jsonl`. One at a
   * time.
   */
  'spec.plan': { documents: textsByName, model: optional(text) },
  /**
   * Makes a plan of issues of the project's forge and writes nothing; `import` with `update` takes
   * its `jsonl`. `words`: numbers, `label:<name>`, `milestone:<title>`, or words of a search.
   */
  'issues.plan': {
    words: texts,
    /** `owner/name`; that of the remote `origin` by default. */
    repo: optional(text),
    /** Variables with a token, as GitHub's own command reads them. */
    env: optional(textsByName),
  },
  /** Cancels the current planning request, which is then refused. */
  'spec.cancel': {},
};

export interface ExchangeAnswers {
  import: ImportResultView;
  export: {
    text: string;
    /**
     * Confirms that `present` was merged: ids of records that are newer there and were left
     * unchanged.
     */
    kept?: readonly string[];
  };
  'spec.plan': SpecPlanView;
  'issues.plan': IssuePlanView;
  'spec.cancel': { cancelled: boolean };
}
