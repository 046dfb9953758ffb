// The width of any text. A separate program in the bundle, because building its Unicode tables
// takes longer than the rest of a command, and few texts need them.

export { default as stringWidth } from 'string-width';
