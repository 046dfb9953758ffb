// If a plan could not be made, its prompt is kept and can be retried, unchanged or edited.

export interface PlanTries {
  /** Lets the user edit the prompt. Returns null if the user canceled. */
  readonly edit: ((words: string) => Promise<string | null>) | null;
  /** Returns false if the user stopped it. Rejects if no plan could be made. */
  readonly plan: (words: string) => Promise<boolean>;
  /** Shows the failure; resolves with the pressed button, or null. */
  readonly offer: (text: string, buttons: readonly string[]) => Promise<string | null>;
}

const again = 'Try Again';
const edited = 'Edit Prompt';

/** Resolves with the prompt that still has no plan, or null once it has one. */
export async function askForAnotherPlan(tries: PlanTries, first: string): Promise<string | null> {
  const { edit, plan, offer } = tries;
  for (let words = first; ;) {
    try {
      return (await plan(words)) ? null : words;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const buttons = edit === null ? [again] : [again, edited];
      const chosen = await offer(`No plan was made: ${reason}`, buttons);
      if (chosen === null) return words;
      const next: string | null = chosen === edited && edit !== null ? await edit(words) : words;
      if (next === null) return words;
      words = next;
    }
  }
}
