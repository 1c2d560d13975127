import type { CanvasPage } from '@docrelay/model/body'
import { renderPage } from '@docrelay/model/render/page-svg'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { messages } from '../messages.en.ts'
import { diffBlocks, tallyOf } from './block-diff.ts'
import { diffShapes, type PageChange } from './document-diff.ts'
import { drawBlocks, drawChanges } from './draw-page.ts'
import { proseReader } from './prose-reader.ts'

const texts = messages.history
type Prose = Extract<PageChange, { readonly kind: 'prose' }>
type Canvas = Extract<PageChange, { readonly kind: 'canvas' }>

/** Compares one page then and now: shows its changes, or both states side by side. */
export function PageComparison(props: { readonly page: PageChange; readonly sides: boolean; readonly when: string }) {
  const { page, sides, when } = props
  return page.kind === 'prose' ? (
    <ProseComparison page={page} sides={sides} />
  ) : (
    <CanvasComparison page={page} sides={sides} when={when} />
  )
}

function ProseComparison({ page, sides }: { readonly page: Prose; readonly sides: boolean }) {
  const { before, after } = useMemo(() => {
    const read = (content: string | undefined) => proseReader().read(content ?? null)
    return { before: read(page.before?.content), after: read(page.after?.content) }
  }, [page])
  const changes = useMemo(() => diffBlocks(before, after), [before, after])
  if (sides)
    return (
      <Sides
        former={
          page.before === null ? (
            <p>{texts.notThen}</p>
          ) : (
            <Drawn label={texts.former} drawn={before} draw={() => drawBlocks(before)} />
          )
        }
        present={
          page.after === null ? (
            <p>{texts.notNow}</p>
          ) : (
            <Drawn label={texts.present} drawn={after} draw={() => drawBlocks(after)} />
          )
        }
      />
    )
  const tally = texts.tally(tallyOf(changes))
  return (
    <>
      <p class="tally">{tally === '' ? texts.same : tally}</p>
      <Drawn label={texts.changes} drawn={changes} draw={() => drawChanges(changes)} />
    </>
  )
}

/** Calls `draw` again only when `drawn` is another object, so that folds that somebody opened in the drawing stay open. */
function Drawn({ label, drawn, draw }: { readonly label: string; readonly drawn: unknown; readonly draw: () => Node }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.replaceChildren(draw()), [drawn])
  return <div ref={place} class="drawn-page" role="region" aria-label={label} tabIndex={0} />
}

function CanvasComparison({ page, sides, when }: { readonly page: Canvas; readonly sides: boolean; readonly when: string }) {
  const changes = useMemo(() => diffShapes(page.before, page.after), [page])
  const pictures = (
    <Sides
      former={page.before === null ? <p>{texts.notThen}</p> : <Picture page={page.before} alt={texts.drawing(page.name, when)} />}
      present={
        page.after === null ? <p>{texts.notNow}</p> : <Picture page={page.after} alt={texts.drawing(page.name, texts.present)} />
      }
    />
  )
  if (sides) return pictures
  return (
    <>
      {changes.length === 0 ? (
        <p class="tally">{page.state === 'same' ? texts.same : texts.state[page.state]}</p>
      ) : (
        <ul class="part-changes">
          {changes.map(({ id, name, kind }) => (
            <li key={id} class={`change-${kind}`}>
              <span class="change-sign">{texts.part[kind]}</span> {name}
            </li>
          ))}
        </ul>
      )}
      {pictures}
    </>
  )
}

function Sides({ former, present }: { readonly former: preact.ComponentChild; readonly present: preact.ComponentChild }) {
  return (
    <div class="sides">
      <section>
        <h3>{texts.former}</h3>
        {former}
      </section>
      <section>
        <h3>{texts.present}</h3>
        {present}
      </section>
    </div>
  )
}

/** Shows a canvas page as an `img`, in which no script from a stored page can run. */
function Picture({ page, alt }: { readonly page: CanvasPage; readonly alt: string }) {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([renderPage(page, 1).svg], { type: 'image/svg+xml' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [page])
  return url === null ? null : <img class="drawing" src={url} alt={alt} />
}
