// Describes how a request gives a field of a task: the kind of value on the wire, and the column's
// value for it. The store supplies the checks that refuse a value.

import { stepText } from '../format.ts';
import { isModel, readSteps, stepsExpected } from '../work/fallback.ts';

/** Kinds of values on the wire. Null or an empty text means "use the settings". */
export interface GivenKinds {
  readonly text: string;
  readonly textOrNull: string | null;
  readonly integer: number;
  readonly flag: boolean;
}

export type GivenKind = keyof GivenKinds;

export interface GivenChecks {
  /** Checks that the value is one of the words. A refusal starts with `name`. */
  word<Word extends string>(given: string, words: readonly Word[], name: string): Word;
  /** A text of any number of lines. A blank text counts as not given. */
  text(given: string, name: string): string | null;
  refuse(sentence: string): never;
}

export interface GivenRule<Kind extends GivenKind> {
  readonly kind: Kind;
  /** Converts the value to the column's value. */
  column(given: GivenKinds[Kind], checks: GivenChecks): string | number | null;
}

export function givenWord(words: readonly string[], name: string): GivenRule<'text'> {
  return { kind: 'text', column: (given, checks) => checks.word(given, words, name) };
}

export function givenWordOrNull(words: readonly string[], name: string): GivenRule<'textOrNull'> {
  return {
    kind: 'textOrNull',
    column: (given, checks) =>
      given === null || given === '' ? null : checks.word(given, words, name),
  };
}

/** A blank text counts as not given. */
export function givenTextOrNull(name: string): GivenRule<'textOrNull'> {
  return {
    kind: 'textOrNull',
    column: (given, checks) => (given === null ? null : (checks.text(given, name)?.trim() ?? null)),
  };
}

export const givenFlag: GivenRule<'flag'> = {
  kind: 'flag',
  column: (given) => (given ? 1 : 0),
};

export function givenCount(max: number, name: string): GivenRule<'integer'> {
  return {
    kind: 'integer',
    column: (given, checks) => {
      if (Number.isInteger(given) && given >= 1 && given <= max) return given;
      return checks.refuse(`${name} is ${given}; use a whole number from 1 to ${max}.`);
    },
  };
}

export const givenModel: GivenRule<'textOrNull'> = {
  kind: 'textOrNull',
  column: (given, checks) => {
    const model = given?.trim() ?? '';
    if (model === '' || isModel(model)) return model === '' ? null : model;
    return checks.refuse('The model must be a name of letters, digits and . _ : / @ - [ ].');
  },
};

export const givenFallback: GivenRule<'textOrNull'> = {
  kind: 'textOrNull',
  column: (given, checks) => {
    if (given === null || given.trim() === '') return null;
    if (given.trim() === 'none') return '';
    const steps = readSteps(given);
    if (steps.ok) return steps.value.map(stepText).join(',');
    const cause = `The fallback is not usable: ${steps.error}.`;
    return checks.refuse(`${cause} Give ${stepsExpected}, or "none".`);
  },
};
