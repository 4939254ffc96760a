/** For `node --import`: each SIGUSR2 shifts the process's clock, to an hour ahead, back, an hour behind, and back. */
const hourMs = 3_600_000
const shiftsMs = [0, hourMs, 0, -hourMs]

const Real = Date
let jumps = 0
const now = () => Real.now() + shiftsMs[jumps % shiftsMs.length]!

globalThis.Date = new Proxy(Real, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name))
})

// Signals reach the main thread only; the engine has one of its own.
const jumped = new BroadcastChannel("ShiftedClock")
jumped.onmessage = ({ data }) => (jumps = Number(data))
jumped.unref()
process.on("SIGUSR2", () => jumped.postMessage(++jumps))
