// The styles of a panel that fills its view: overflowing content scrolls within one of its parts.

import { css } from 'lit';

export const pageStyles = css`
  :host {
    display: block;
    height: 100%;
  }
  .page {
    display: flex;
    flex-direction: column;
    height: 100%;
    overflow: hidden;
  }
`;
