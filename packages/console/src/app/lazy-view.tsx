import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Loading, Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'

/** Returns a component whose code is loaded when it is shown for the first time. */
export function lazyView<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function LazyView(props: P) {
    const [View, setView] = useState<ComponentType<P> | null>(() => loaded)
    const [failed, setFailed] = useState(false)
    const [attempt, setAttempt] = useState(0)
    useEffect(() => {
      if (View !== null) return
      let shown = true
      setFailed(false)
      load().then(
        (component) => {
          loaded = component
          if (shown) setView(() => component)
        },
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
}
