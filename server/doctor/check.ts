// One line of `drover doctor`, and the additional checks that a caller can request.

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

export interface DoctorRequest {
  /** Look for every commit of the plan on the fleet's git remote. */
  readonly remoteCommits?: boolean;
  /** Read what landing by a pull request will require. */
  readonly forge?: boolean;
}
