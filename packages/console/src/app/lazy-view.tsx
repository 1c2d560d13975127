import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Loading, Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'

/** A component whose code is loaded separately. */
export type LazyView<P extends object> = ComponentType<P> & {
  /** Loads the code before the component is shown. A failed load is repeated when the component is shown. */
  readonly preload: () => void
}

/** Returns a component whose code loads when it is first shown, or at `preload`. */
export function lazyView<P extends object>(load: () => Promise<ComponentType<P>>): LazyView<P> {
  let loaded: ComponentType<P> | null = null
  const component = async (): Promise<ComponentType<P>> => (loaded ??= await load())
  const view = function LazyView(props: P) {
    const [View, setView] = useState<ComponentType<P> | null>(() => loaded)
    const [failed, setFailed] = useState(false)
    const [attempt, setAttempt] = useState(0)
    useEffect(() => {
      if (View !== null) return
      let shown = true
      setFailed(false)
      component().then(
        (found) => shown && setView(() => found),
        () => shown && setFailed(true),
      )
      return () => {
        shown = false
      }
    }, [View, attempt])
    if (View !== null) return <View {...props} />
    if (!failed) return <Loading text={messages.app.loading} />
    return (
      <Notice kind="danger" actions={<Button onClick={() => setAttempt(attempt + 1)}>{messages.app.tryAgain}</Button>}>
        {messages.app.viewNotLoaded}
      </Notice>
    )
  }
  return Object.assign(view, { preload: () => void component().catch(() => {}) })
}
