// Whether the view follows the end of the log. After scrolling up, the view keeps its position and
// shows the number of new entries below; at the end, it follows again.

export interface FollowState {
  readonly isFollowing: boolean;
  /** Entries that arrived since the view stopped following. */
  readonly newCount: number;
}

export type FollowInput =
  /** A scroll of the view: its new position, and whether a person or the list itself moved it. */
  | { readonly type: 'scrolled'; readonly fromEndPx: number; readonly movedPx: number }
  | { readonly type: 'arrived'; readonly count: number }
  /** The end of the log was loaded, or dropped from the loaded pages. */
  | { readonly type: 'jumped_to_end' }
  | { readonly type: 'left_end' };

/** A distance up to this counts as "at the end". */
export const endThresholdPx = 24;

export const following: FollowState = { isFollowing: true, newCount: 0 };

export function follow(state: FollowState, input: FollowInput): FollowState {
  switch (input.type) {
    case 'scrolled':
      if (input.fromEndPx <= endThresholdPx) return following;
      return input.movedPx < 0 ? { ...state, isFollowing: false } : state;
    case 'arrived':
      if (state.isFollowing || input.count === 0) return state;
      return { ...state, newCount: state.newCount + input.count };
    case 'jumped_to_end':
      return following;
    case 'left_end':
      return { ...state, isFollowing: false };
  }
}
