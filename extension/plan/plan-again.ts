// A plan that could not be made keeps its prompt: it is tried again, as it is or edited.

export interface PlanTries {
  /** Lets the user change the prompt. Null if the user did not type it. */
  readonly edit: ((words: string) => Promise<string | null>) | null;
  /** Returns false if the user stopped it. Rejects if no plan could be made. */
  readonly plan: (words: string) => Promise<boolean>;
  /** Shows the failure; resolves with the button that was pressed, or null. */
  readonly offer: (text: string, buttons: readonly string[]) => Promise<string | null>;
}

const again = 'Try Again';
const edited = 'Edit Prompt';

/** Resolves with the prompt for which there is still no plan, or null once there is one. */
export async function planAgain(tries: PlanTries, first: string): Promise<string | null> {
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
