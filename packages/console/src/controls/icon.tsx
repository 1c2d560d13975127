/** Drawings on a grid of 16, with lines of 1.5. */
const DRAWINGS = {
  add: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.2 3.2L13 5',
  cloud: 'M4.5 12.5h7a2.75 2.75 0 0 0 .4-5.47 4 4 0 0 0-7.7-.9A3.2 3.2 0 0 0 4.5 12.5z',
  cloudOff: 'M4.5 12.5h6.5M12.6 11.9a2.75 2.75 0 0 0-.7-4.87 4 4 0 0 0-5-2.86M4.2 6.2A3.2 3.2 0 0 0 4.5 12.5M2.5 2.5l11 11',
  saving: 'M8 2.5v2.5M8 11v2.5M2.5 8H5M11 8h2.5M4.1 4.1l1.8 1.8M10.1 10.1l1.8 1.8M11.9 4.1l-1.8 1.8M5.9 10.1l-1.8 1.8',
  warning: 'M8 2.5l6 10.5H2zM8 6.5v3M8 11.3v.2',
  document: 'M4 2h5l3 3v9H4zM9 2v3h3M6 8h4M6 10.5h4',
  prose: 'M3 4h10M3 7h10M3 10h7M3 13h5',
  canvas: 'M2.5 3h6v4.5h-6zM10.5 13.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM5.5 7.5v3.5H8',
  history: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.5v2.6h2.6M8 5.3V8l2 1.4',
  sharing: 'M6 8.2a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8zM1.8 13.2a4.2 4.2 0 0 1 8.4 0M12 5v4M10 7h4',
  files: 'M10.5 4.5v6a2.5 2.5 0 0 1-5 0v-6.3a1.7 1.7 0 0 1 3.4 0v6',
  people:
    'M5.5 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM1.5 13a4 4 0 0 1 8 0M10.5 3.3a2.1 2.1 0 0 1 0 4M11.5 9.3a4 4 0 0 1 3 3.7',
  outline: 'M2.5 4h.01M5 4h8.5M4.5 8h.01M7 8h6.5M4.5 12h.01M7 12h6.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  left: 'M10 3.5L5.5 8l4.5 4.5',
  right: 'M6 3.5L10.5 8 6 12.5',
  down: 'M3.5 6L8 10.5 12.5 6',
  edit: 'M10.5 3l2.5 2.5L5.8 12.7 3 13l.3-2.8z',
  remove: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  eye: 'M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z',
  agent: 'M3.5 6h9v7h-9zM8 6V3.2M6.2 9h.01M9.8 9h.01M6.5 11.2h3M1.8 8.5v2M14.2 8.5v2',
  collection: 'M2 4h4.2l1.3 1.7H14V13H2z',
  leave: 'M6 2.5H3v11h3M7 8h6.5M11 5.3L13.7 8 11 10.7',
  meter: 'M2.5 12a5.8 5.8 0 1 1 11 0M8 10l2.5-3.5',
} as const

export type IconName = keyof typeof DRAWINGS

/** A drawing that says nothing by itself: what it means stands beside it as text or as a label. */
export function Icon({ name, class: extra = '' }: { readonly name: IconName; readonly class?: string }) {
  return (
    <svg class={`icon ${extra}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={DRAWINGS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
