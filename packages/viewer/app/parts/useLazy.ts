/** A component that is loaded when it is first wanted. Undefined until it is there. */
import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"

export const useLazy = <Props>(
  load: () => Promise<ComponentType<Props>>,
  isWanted: boolean
): ComponentType<Props> | undefined => {
  const [loaded, setLoaded] = useState<{ readonly Component: ComponentType<Props> }>()
  useEffect(() => {
    if (isWanted && loaded === undefined) void load().then((Component) => setLoaded({ Component }))
  }, [isWanted])
  return isWanted ? loaded?.Component : undefined
}
