// The width of any text. A program of its own in the bundles: its tables of Unicode are made when
// it is loaded, which takes longer than all else of a command, and few texts need them.

export { default as stringWidth } from 'string-width';
