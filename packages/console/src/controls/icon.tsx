import { DRAWINGS, type IconName } from './drawings.ts'

/** A drawing that screen readers skip. Its meaning is given beside it, as text or as a label. */
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
