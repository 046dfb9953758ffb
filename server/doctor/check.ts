// One line of `drover doctor`, and the additional checks that a caller can request.

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

export interface DoctorRequest {
  /** Look for every commit of the plan on the git remote of a fleet. */
  readonly remoteCommits?: boolean;
  /** Read what landing by a pull request will need. */
  readonly forge?: boolean;
}
