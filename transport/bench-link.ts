/** The benchmark's tiers `kernel` and `quic`: the trace as a link between two network namespaces. */

import type { BrowserAccess, EmulatedLink, LinkStatistics } from '../replay/browser/emulated-link.ts';
import type { PlannedSession } from '../replay/evaluation/plan.ts';
import type { ResolvedScenario } from '../replay/results.ts';
import { KernelLink } from './kernel-link.ts';
import { type Impairment, kernelSteps } from './kernel-steps.ts';
import type { CongestionControl } from './kernel-support.ts';

export type KernelTier = { impairment: Impairment } & (
  | { tier: 'kernel'; congestionControl: CongestionControl }
  | {
      tier: 'quic';
      /** From `quicCongestion`. */
      congestionControl: string;
    }
);

export class BenchLink implements EmulatedLink {
  readonly protocol: string;

  private constructor(
    private readonly link: KernelLink,
    private readonly tier: KernelTier,
  ) {
    this.protocol = tier.tier === 'quic' ? 'h3' : 'http/1.1';
  }

  /** Rejects with an `Error` on machines that cannot run the tier. */
  static async start(tier: KernelTier, { rttSeconds }: Pick<ResolvedScenario, 'rttSeconds'>): Promise<BenchLink> {
    const tcp = tier.tier === 'kernel' && { congestionControl: tier.congestionControl };
    return new BenchLink(await KernelLink.start({ rttSeconds, ...tcp }), tier);
  }

  listen(): ReturnType<KernelLink['listen']> {
    return this.link.listen();
  }

  async access(url: string, executablePath: string): Promise<BrowserAccess> {
    const program = this.link.program('client', executablePath);
    if (this.tier.tier === 'kernel') {
      // Without a secure context the page's clocks are coarser. Only loopback is secure without https.
      return { url, executablePath: program, args: [`--unsafely-treat-insecure-origin-as-secure=${url}`] };
    }
    const http3 = await this.link.serveHttp3(this.tier.congestionControl);
    // HTTP/3 from the first request on, never TCP; and trust in the server's key.
    const args = [
      `--origin-to-force-quic-on=${new URL(http3.url).host}`,
      `--ignore-certificate-errors-spki-list=${http3.spki}`,
    ];
    return { url: http3.url, executablePath: program, args };
  }

  play({ trace, startSeconds, seed, household }: PlannedSession, scenario: ResolvedScenario): void {
    const { impairment } = this.tier;
    this.link.play(kernelSteps(trace, scenario, { startSeconds, impairment, seed }), seed);
    for (const traffic of household?.traffic ?? []) this.link.download(traffic);
    // The counts begin here.
    void this.link.statistics();
  }

  open(): void {
    this.link.open();
  }

  statistics(): Promise<LinkStatistics> {
    return this.link.statistics();
  }

  close(): Promise<void> {
    return this.link.close();
  }
}
