import type { PanelProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { shownOf } from './shown-page.ts'
import './outline.css'

const texts = messages.prose.outline

/** The headings of the prose page on the screen. Pressing one scrolls to it. */
export function OutlinePanel({ document }: PanelProps) {
  const page = shownOf(document).page.value
  const headings = page?.headings.value ?? []
  return (
    <nav class="outline-panel" aria-label={texts.title}>
      <h2>{texts.title}</h2>
      {headings.length === 0 ? (
        <p>{page === null ? texts.noPage : texts.empty}</p>
      ) : (
        <ol>
          {headings.map((heading, index) => (
            <li key={index} class={`outline-level-${Math.min(heading.level, 6)}`}>
              <button type="button" onClick={() => page?.show(index)}>
                {heading.text === '' ? texts.unnamed : heading.text}
              </button>
            </li>
          ))}
        </ol>
      )}
    </nav>
  )
}
