import t from 'tap';
import { compareDeliveries } from './deliveries.ts';

t.test(
  'An event that did not arrive is lost, one of two deliveries is doubled, one that arrived again is not',
  async (t) => {
    t.strictSame(compareDeliveries([], []), { lost: [], doubled: [], repeated: 0 });
    const received = [
      { id: 'a', executionId: 1 },
      { id: 'a', executionId: 1 },
      { id: 'b', executionId: 2 },
      { id: 'c', executionId: 2 },
      { id: 'd', executionId: 4 },
    ];
    t.strictSame(compareDeliveries([1, 2, 3], received), {
      lost: [
        'lost: the event of execution 3 did not arrive',
        'lost: the event of execution 4 arrived, but it is not completed',
      ],
      doubled: ['doubled: execution 2 has 2 deliveries'],
      repeated: 1,
    });
  },
);
