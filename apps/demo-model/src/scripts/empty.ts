import { defineScript } from '../script/script';

export const empty = defineScript({ description: 'Says nothing at all and calls nothing.', play: () => ({}) });
