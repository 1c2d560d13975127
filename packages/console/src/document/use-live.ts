import type { DivergedEvent, GoneEvent, LiveDocument } from '@docrelay/client'
import { useEffect, useState } from 'preact/hooks'
import { type PageEntry, pagesOf, titleOf, watchPages } from './document-pages.ts'
import { type FileUnderWay, filesUnderWay } from './files-under-way.ts'
import { type Opening, watchOpening } from './opening.ts'
import { type Present, presentIn } from './present.ts'

export function useOpening(live: LiveDocument): Opening {
  const [opening, setOpening] = useState<Opening>({ kind: 'opening' })
  useEffect(() => watchOpening(live, setOpening), [live])
  return opening
}

export function useLevel(live: LiveDocument): LiveDocument['level'] {
  const [level, setLevel] = useState(live.level)
  useEffect(() => {
    setLevel(live.level)
    return live.on('level', setLevel)
  }, [live])
  return level
}

export function useDocumentState(live: LiveDocument): LiveDocument['state'] {
  const [state, setState] = useState(live.state)
  useEffect(() => {
    setState(live.state)
    return live.on('state', setState)
  }, [live])
  return state
}

export function useGone(live: LiveDocument): GoneEvent | null {
  const [gone, setGone] = useState<GoneEvent | null>(live.gone)
  useEffect(() => {
    setGone(live.gone)
    return live.on('gone', setGone)
  }, [live])
  return gone
}

export function useDiverged(live: LiveDocument): DivergedEvent | null {
  const [diverged, setDiverged] = useState(live.diverged)
  useEffect(() => {
    setDiverged(live.diverged)
    return live.on('diverged', setDiverged)
  }, [live])
  // The relay may accept the refused edit later, for example when the person may write again.
  return useDocumentState(live).saved === 'refused' ? diverged : null
}

/** The files that are being sent into the document, or onto one of its pages. The calling view must show them to the person. */
export function useFilesUnderWay(live: LiveDocument, pageId?: string): readonly FileUnderWay[] {
  const underWay = filesUnderWay(live)
  const [files, setFiles] = useState(underWay.files)
  const isShown = (file: FileUnderWay): boolean => pageId === undefined || file.pageId === pageId
  useEffect(() => underWay.watch(() => setFiles(underWay.files), isShown), [live, pageId])
  return files.filter(isShown)
}

/** The present title and pages. */
export function usePages(live: LiveDocument): { readonly title: string; readonly pages: readonly PageEntry[] } {
  const read = () => ({ title: titleOf(live.ydoc), pages: pagesOf(live.ydoc) })
  const [shown, setShown] = useState(read)
  useEffect(() => {
    setShown(read())
    return watchPages(live.ydoc, () => setShown(read()))
  }, [live])
  return shown
}

/** The others in the document: agents, and people, each person once however many tabs they have. */
export function usePresent(live: LiveDocument): readonly Present[] {
  const [present, setPresent] = useState<readonly Present[]>([])
  useEffect(() => {
    const look = (): void => setPresent((before) => presentIn(live.awareness, before))
    look()
    live.awareness.on('change', look)
    return () => live.awareness.off('change', look)
  }, [live])
  return present
}
