/** What a write adjusted in its input, told to the caller. [interface, MCP rule 10] */
export interface Fix {
  readonly action: 'dropped_unknown' | 'dropped_invalid' | 'clamped' | 'unwrapped' | 'rebuilt_table' | 'stripped_children'
  readonly reason: string
  readonly field?: string
  readonly path?: string
  readonly nodeType?: string
}
