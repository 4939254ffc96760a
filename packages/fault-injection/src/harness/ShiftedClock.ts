/** For `node --import`: the process's clock jumps with every SIGUSR2, an hour ahead, back, an hour behind, and back. */
const hour = 3_600_000
const shifts = [0, hour, 0, -hour]

const Real = Date
let jumps = 0
const now = () => Real.now() + shifts[jumps % shifts.length]!

globalThis.Date = new Proxy(Real, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name))
})

process.on("SIGUSR2", () => jumps++)
