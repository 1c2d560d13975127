import type { LiveDocument } from '@docrelay/client'
import { useEffect, useState } from 'preact/hooks'
import { messages } from '../messages.en.ts'
import type { PageEntry } from './document-pages.ts'
import { type Heading, headingsOf } from './headings.ts'

/** The headings of the text page that is shown; each leads to its place. */
export function Outline({ live, page }: { readonly live: LiveDocument; readonly page: PageEntry | null }) {
  const text = messages.document
  const pageId = page?.kind === 'prose' ? page.id : null
  const [headings, setHeadings] = useState<readonly Heading[]>([])
  useEffect(() => {
    if (pageId === null) return setHeadings([])
    const fragment = live.ydoc.getXmlFragment(`prose:${pageId}`)
    const look = (): void => setHeadings(headingsOf(fragment))
    look()
    fragment.observeDeep(look)
    return () => fragment.unobserveDeep(look)
  }, [live, pageId])
  return (
    <nav class="outline" aria-label={text.panel.outline}>
      <h2>{text.panel.outline}</h2>
      {headings.length === 0 && <p class="muted">{text.outlineEmpty}</p>}
      <ol>
        {headings.map((heading, at) => (
          <li key={`${heading.text} ${at}`} class={`outline-${heading.level}`}>
            <button type="button" class="outline-link" onClick={() => showHeading(at)}>
              {heading.text}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** Scrolls to the heading of this number, in the order of the page. */
function showHeading(at: number): void {
  const headings = document.querySelectorAll('#document-page :is(h1, h2, h3, h4, h5, h6)')
  headings[at]?.scrollIntoView({ block: 'center' })
}
