import type { SearchHit, SearchPage } from '@docrelay/client'
import { useEffect, useState } from 'preact/hooks'
import { formatRoute } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { searchTexts } from './text-search.ts'

/** The texts inside documents that contain the searched words. */
export function SearchHits({ session, q }: { readonly session: Session; readonly q: string }) {
  const text = messages.documents
  const [page, setPage] = useState<SearchPage | null>(null)
  useEffect(() => searchTexts(session.relay, q.trim(), setPage), [session, q])
  const hits = page?.hits.filter(({ kind }) => kind !== 'name') ?? []
  if (page === null || hits.length === 0) return null
  return (
    <section class="search-hits" aria-label={text.hits}>
      <h2>{text.hits}</h2>
      {page.partial === true && <p class="muted">{text.hitsPartial}</p>}
      <ul>
        {hits.map((hit, at) => (
          <li key={`${hit.docId} ${hit.id ?? at}`}>
            <a href={addressOf(hit)}>{text.hitPlace(hit.name, hit.section)}</a>
            <p>{hit.snippet}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function addressOf({ docId, pageId }: SearchHit): string {
  return formatRoute({ view: 'document', id: docId, pageId: pageId ?? null, panel: null })
}
