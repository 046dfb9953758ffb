// What a record of an import says of tries: who takes over, how many candidates are made, and who chooses.

import { bestOfMax, type ChooseRule, chooseRules, isBestOf } from '../plan/best-of.ts';
import { readSteps, stepsExpected } from '../work/fallback.ts';
import { stepText } from '../format.ts';

export interface Tries {
  /** In the form of the column. */
  readonly fallback: string | null;
  readonly bestOf: number | null;
  readonly choose: ChooseRule | null;
}

/** What is wrong is added to the faults. */
export function readTries(valueOf: (key: string) => unknown, faults: string[]): Tries {
  const bestOf = valueOf('best_of');
  const isCount = typeof bestOf === 'number' && isBestOf(bestOf);
  if (bestOf !== null && !isCount) {
    faults.push(`\`best_of\` is not a whole number from 1 to ${bestOfMax}`);
  }
  const given = valueOf('choose');
  const choose = chooseRules.find((rule) => rule === given) ?? null;
  if (given !== null && choose === null) {
    faults.push(`\`choose\` is none of ${chooseRules.join(', ')}`);
  }
  return {
    fallback: readFallback(valueOf('fallback'), faults),
    bestOf: isCount ? bestOf : null,
    choose,
  };
}

/** "none" = nobody takes over. */
function readFallback(value: unknown, faults: string[]): string | null {
  if (value === null || value === '') return null;
  if (value === 'none') return '';
  const steps = readSteps(value);
  if (steps.ok) return steps.value.map(stepText).join(',');
  faults.push(`\`fallback\` is not usable: ${steps.error}; expected ${stepsExpected}`);
  return null;
}
