/** Drawings of the tools, in a square of 20. Each is a list of paths that are drawn as strokes. */
const ICONS = {
  link: ['M8.5 11.5 11.5 8.5', 'M9 6.5 11 4.5a3.2 3.2 0 0 1 4.5 4.5l-2 2', 'M11 13.5 9 15.5A3.2 3.2 0 0 1 4.5 11l2-2'],
  code: ['M7 6 3 10l4 4', 'M13 6l4 4-4 4'],
  bullets: ['M8 5h9', 'M8 10h9', 'M8 15h9', 'M4 5h.01', 'M4 10h.01', 'M4 15h.01'],
  numbers: ['M9 5h8', 'M9 10h8', 'M9 15h8', 'M3.5 4 5 3.2V8', 'M3.3 12.6c.5-1 2.4-.9 2.4.4 0 1-2.4 2-2.4 3.3h2.5'],
  tasks: ['M10 5.5h7', 'M10 14.5h7', 'M3 5.5l1.5 1.5L7.5 4', 'M3.5 12.5h3.8v3.8H3.5z'],
  quote: ['M4 4v12', 'M8 6h9', 'M8 10h9', 'M8 14h6'],
  callout: ['M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5z', 'M10 7v2.5', 'M10 11.4h.01'],
  codeBlock: ['M3 4h14v12H3z', 'M8 8l-2 2 2 2', 'M12 8l2 2-2 2'],
  table: ['M3 4h14v12H3z', 'M3 8h14', 'M3 12h14', 'M10 4v12'],
  formula: ['M14.5 6V4H5l5 6-5 6h9.5v-2'],
  image: ['M3 4h14v12H3z', 'M3.5 14.5 8 10l3 3 2.5-2.5 3.5 3.5', 'M13 7.5h.01'],
  field: [
    'M7 4C5 4 5.5 6 5.5 7.5S5 10 3.5 10C5 10 5.5 11 5.5 12.5S5 16 7 16',
    'M13 4c2 0 1.5 2 1.5 3.5S15 10 16.5 10c-1.5 0-2 1-2 2.5S15 16 13 16',
    'M8.5 10h3',
  ],
  citation: ['M5 3h8l3 3v11H5z', 'M8 9h5', 'M8 12.5h5'],
  rule: ['M3 10h14', 'M6 5h8', 'M6 15h8'],
  undo: ['M7 5 3.5 8.5 7 12', 'M4 8.5h8a4 4 0 0 1 0 8h-2'],
  redo: ['M13 5l3.5 3.5L13 12', 'M16 8.5H8a4 4 0 0 0 0 8h2'],
} as const

export type IconName = keyof typeof ICONS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {ICONS[name].map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  )
}
