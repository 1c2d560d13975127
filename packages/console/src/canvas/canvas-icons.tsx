import type { ComponentChildren } from 'preact'

/** The drawings of the buttons, in a square of 16 × 16. Screen readers skip them. */
export const icons = {
  select: <path d="M3 2l9 6-4 1 2.5 4.5-1.8 1L6.2 10 3.2 13z" fill="currentColor" />,
  hand: <path d="M8 1v14M1 8h14M8 1 6 3m2-2 2 2M8 15l-2-2m2 2 2-2M1 8l2-2M1 8l2 2m12-2-2-2m2 2-2 2" />,
  rectangle: <rect x="2" y="3.5" width="12" height="9" rx="1" />,
  ellipse: <ellipse cx="8" cy="8" rx="6.5" ry="4.5" />,
  text: <path d="M3 5V3h10v2M8 3v10m-2 0h4" />,
  connect: <path d="M2 12.5h4.5V4H13m-2.5-2.5L13 4l-2.5 2.5" />,
  label: <path d="M2 14h12M4 11l1-3 6-6 2 2-6 6z" />,
  delete: <path d="M2.5 4h11M6 4V2h4v2m-6 0 .8 10h6.4L12 4" />,
  duplicate: (
    <>
      <rect x="2" y="2" width="9" height="9" rx="1" />
      <path d="M5 14h8a1 1 0 0 0 1-1V5" />
    </>
  ),
  front: (
    <>
      <rect x="2" y="6" width="8" height="8" fill="currentColor" />
      <path d="M6 6V2h8v8h-4" />
    </>
  ),
  back: (
    <>
      <rect x="6" y="2" width="8" height="8" />
      <path d="M10 10v4H2V6h4" />
    </>
  ),
  forward: <path d="M8 14V3M4 7l4-4 4 4" />,
  backward: <path d="M8 2v11m-4-4 4 4 4-4" />,
  undo: <path d="M5 3 2 6l3 3M2 6h7.5a4 4 0 0 1 0 8H6" />,
  redo: <path d="m11 3 3 3-3 3m3-3H6.5a4 4 0 0 0 0 8H10" />,
  zoomIn: <path d="M8 3v10M3 8h10" />,
  zoomOut: <path d="M3 8h10" />,
  fit: <path d="M2 6V2h4m4 0h4v4m0 4v4h-4m-4 0H2v-4" />,
  keys: (
    <>
      <rect x="1.5" y="4" width="13" height="8" rx="1.5" />
      <path d="M4 6.7h.01M6.7 6.7h.01M9.3 6.7h.01M12 6.7h.01M5.5 9.5h5" />
    </>
  ),
  outline: <path d="M2 4h12M5 8h9M5 12h9" />,
} satisfies Record<string, ComponentChildren>

export type IconName = keyof typeof icons

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="canvas-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {icons[name]}
    </svg>
  )
}
